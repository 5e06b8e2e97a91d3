// SPDX-License-Identifier: Apache-2.0
/* VirtualMachineInstance, VirtualMachine and everything of spec.domain but its devices. */
#include "api/schema_table.h"

static const struct schema cpu_feature = SCHEMA(BUILT("name", F_STRING), BUILT("policy", F_STRING));
static const struct schema numa = SCHEMA(BUILT("guestMappingPassthrough", F_EMPTY));
static const struct schema realtime = SCHEMA(BUILT("mask", F_STRING));

static const struct schema cpu =
	SCHEMA(BUILT("cores", F_COUNT), BUILT("sockets", F_COUNT), BUILT("threads", F_COUNT),
	       BUILT("model", F_STRING), BUILT("dedicatedCpuPlacement", F_BOOL),
	       BUILT("isolateEmulatorThread", F_BOOL), BUILT("maxSockets", F_UINT),
	       LATER_OF("features", F_LIST, cpu_feature), BUILT_OF("numa", F_OBJECT, numa),
	       BUILT_OF("realtime", F_OBJECT, realtime));

static const struct schema hugepages = SCHEMA(BUILT("pageSize", F_STRING));
static const struct schema reserved_overhead =
	SCHEMA(BUILT("addedOverhead", F_QUANTITY), BUILT("memLock", F_STRING));
static const struct schema memory =
	SCHEMA(BUILT("guest", F_QUANTITY), BUILT("maxGuest", F_QUANTITY),
	       BUILT_OF("hugepages", F_OBJECT, hugepages),
	       LATER_OF("reservedOverhead", F_OBJECT, reserved_overhead));

const struct schema schema_resources =
	SCHEMA(BUILT("requests", F_QUANTITIES), BUILT("limits", F_QUANTITIES),
	       LATER("overcommitGuestOverhead", F_BOOL));

static const struct schema bios = SCHEMA(LATER("useSerial", F_BOOL));
static const struct schema efi = SCHEMA(BUILT("persistent", F_BOOL), BUILT("secureBoot", F_BOOL));
static const struct schema bootloader =
	SCHEMA(BUILT_OF("bios", F_OBJECT, bios), LATER_OF("efi", F_OBJECT, efi));
static const struct schema kernel_container = SCHEMA(
	BUILT("image", F_STRING), BUILT("kernelPath", F_STRING), BUILT("initrdPath", F_STRING),
	BUILT("imagePullPolicy", F_STRING), LATER("imagePullSecret", F_STRING));
static const struct schema kernel_boot =
	SCHEMA(BUILT_OF("container", F_OBJECT, kernel_container), BUILT("kernelArgs", F_STRING));
static const struct schema firmware_acpi =
	SCHEMA(BUILT("msdmNameRef", F_STRING), BUILT("slicNameRef", F_STRING));
static const struct schema firmware = SCHEMA(BUILT("uuid", F_STRING), BUILT("serial", F_STRING),
					     BUILT_OF("bootloader", F_OBJECT, bootloader),
					     BUILT_OF("kernelBoot", F_OBJECT, kernel_boot),
					     LATER_OF("acpi", F_OBJECT, firmware_acpi));

static const struct schema apic = SCHEMA(BUILT("enabled", F_BOOL), BUILT("endOfInterrupt", F_BOOL));
static const struct schema spinlocks = SCHEMA(BUILT("enabled", F_BOOL), BUILT("spinlocks", F_UINT));
static const struct schema vendor_id =
	SCHEMA(BUILT("enabled", F_BOOL), BUILT("vendorid", F_STRING));
static const struct schema direct_timer =
	SCHEMA(BUILT("enabled", F_BOOL), BUILT_OF("direct", F_OBJECT, schema_enabled));
static const struct schema tlb_flush =
	SCHEMA(BUILT("enabled", F_BOOL), BUILT_OF("direct", F_OBJECT, schema_enabled),
	       BUILT_OF("extended", F_OBJECT, schema_enabled));
static const struct schema hyperv = SCHEMA(
	BUILT_OF("evmcs", F_OBJECT, schema_enabled),
	BUILT_OF("frequencies", F_OBJECT, schema_enabled),
	BUILT_OF("ipi", F_OBJECT, schema_enabled),
	BUILT_OF("reenlightenment", F_OBJECT, schema_enabled),
	BUILT_OF("relaxed", F_OBJECT, schema_enabled), BUILT_OF("reset", F_OBJECT, schema_enabled),
	BUILT_OF("runtime", F_OBJECT, schema_enabled), BUILT_OF("spinlocks", F_OBJECT, spinlocks),
	BUILT_OF("synic", F_OBJECT, schema_enabled), BUILT_OF("synictimer", F_OBJECT, direct_timer),
	BUILT_OF("tlbflush", F_OBJECT, tlb_flush), BUILT_OF("vapic", F_OBJECT, schema_enabled),
	BUILT_OF("vendorid", F_OBJECT, vendor_id), BUILT_OF("vpindex", F_OBJECT, schema_enabled));
static const struct schema kvm_hidden = SCHEMA(BUILT("hidden", F_BOOL));
static const struct schema features = SCHEMA(
	BUILT_OF("acpi", F_OBJECT, schema_enabled), LATER_OF("apic", F_OBJECT, apic),
	LATER_OF("hyperv", F_OBJECT, hyperv),
	LATER_OF("hypervPassthrough", F_OBJECT, schema_enabled),
	LATER_OF("kvm", F_OBJECT, kvm_hidden), LATER_OF("pvspinlock", F_OBJECT, schema_enabled),
	LATER_OF("smm", F_OBJECT, schema_enabled));

static const struct schema timer_tick =
	SCHEMA(BUILT("present", F_BOOL), BUILT("tickPolicy", F_STRING));
static const struct schema timer_rtc =
	SCHEMA(BUILT("present", F_BOOL), BUILT("tickPolicy", F_STRING), BUILT("track", F_STRING));
static const struct schema timer_plain = SCHEMA(BUILT("present", F_BOOL));
static const struct schema timers =
	SCHEMA(BUILT_OF("hpet", F_OBJECT, timer_tick), BUILT_OF("hyperv", F_OBJECT, timer_plain),
	       BUILT_OF("kvm", F_OBJECT, timer_plain), BUILT_OF("pit", F_OBJECT, timer_tick),
	       BUILT_OF("rtc", F_OBJECT, timer_rtc));
static const struct schema clock_utc = SCHEMA(BUILT("offsetSeconds", F_INT));
static const struct schema clock =
	SCHEMA(BUILT("timezone", F_STRING), BUILT_OF("utc", F_OBJECT, clock_utc),
	       BUILT_OF("timer", F_OBJECT, timers));

static const struct schema chassis =
	SCHEMA(BUILT("asset", F_STRING), BUILT("manufacturer", F_STRING), BUILT("serial", F_STRING),
	       BUILT("sku", F_STRING), BUILT("version", F_STRING));
static const struct schema machine = SCHEMA(BUILT("type", F_STRING));
static const struct schema io_threads = SCHEMA(BUILT("supplementalPoolThreadCount", F_UINT));

static const struct schema sev_policy = SCHEMA(BUILT("encryptedState", F_BOOL));
static const struct schema sev =
	SCHEMA(BUILT("attestation", F_EMPTY), BUILT("dhCert", F_STRING),
	       BUILT_OF("policy", F_OBJECT, sev_policy), BUILT("session", F_STRING));
static const struct schema launch_security =
	SCHEMA(BUILT_OF("sev", F_OBJECT, sev), BUILT("snp", F_ANY), BUILT("tdx", F_ANY));

static const struct schema domain = SCHEMA(
	BUILT_OF("cpu", F_OBJECT, cpu), BUILT_OF("memory", F_OBJECT, memory),
	BUILT_OF("devices", F_OBJECT, schema_devices),
	BUILT_OF("resources", F_OBJECT, schema_resources), BUILT_OF("machine", F_OBJECT, machine),
	BUILT_OF("firmware", F_OBJECT, firmware), BUILT_OF("features", F_OBJECT, features),
	LATER_OF("clock", F_OBJECT, clock), LATER_OF("chassis", F_OBJECT, chassis),
	LATER_OF("ioThreads", F_OBJECT, io_threads), LATER("ioThreadsPolicy", F_STRING),
	LATER_OF("launchSecurity", F_OBJECT, launch_security), LATER("rebootPolicy", F_STRING));

static const struct schema multus =
	SCHEMA(BUILT("networkName", F_STRING), LATER("default", F_BOOL));
static const struct schema pod_network =
	SCHEMA(LATER("vmNetworkCIDR", F_STRING), LATER("vmIPv6NetworkCIDR", F_STRING));
static const struct schema resource_network =
	SCHEMA(BUILT("claimName", F_STRING), BUILT("requestName", F_STRING));
static const struct schema network =
	SCHEMA(BUILT("name", F_STRING), BUILT_OF("multus", F_OBJECT, multus),
	       BUILT_OF("pod", F_OBJECT, pod_network),
	       LATER_OF("resourceClaim", F_OBJECT, resource_network));

static const struct schema secret_name = SCHEMA(BUILT("secretName", F_STRING));
static const struct schema credential_source = SCHEMA(BUILT_OF("secret", F_OBJECT, secret_name));
static const struct schema agent_users = SCHEMA(BUILT("users", F_STRINGS));
static const struct schema key_propagation =
	SCHEMA(BUILT("configDrive", F_EMPTY), BUILT("noCloud", F_EMPTY),
	       BUILT_OF("qemuGuestAgent", F_OBJECT, agent_users));
static const struct schema password_propagation = SCHEMA(BUILT("qemuGuestAgent", F_EMPTY));
static const struct schema ssh_key =
	SCHEMA(BUILT_OF("source", F_OBJECT, credential_source),
	       BUILT_OF("propagationMethod", F_OBJECT, key_propagation));
static const struct schema user_password =
	SCHEMA(BUILT_OF("source", F_OBJECT, credential_source),
	       BUILT_OF("propagationMethod", F_OBJECT, password_propagation));
static const struct schema credential = SCHEMA(BUILT_OF("sshPublicKey", F_OBJECT, ssh_key),
					       BUILT_OF("userPassword", F_OBJECT, user_password));

static const struct schema utility_volume =
	SCHEMA(BUILT("claimName", F_STRING), BUILT("name", F_STRING), BUILT("readOnly", F_BOOL),
	       BUILT("type", F_STRING));
static const struct schema resource_claim =
	SCHEMA(BUILT("name", F_STRING), BUILT("resourceClaimName", F_STRING),
	       BUILT("resourceClaimTemplateName", F_STRING));

const struct schema schema_vmi_spec =
	SCHEMA(BUILT_OF("domain", F_OBJECT, domain), BUILT_OF("volumes", F_LIST, schema_volume),
	       BUILT_OF("networks", F_LIST, network), BUILT("terminationGracePeriodSeconds", F_INT),
	       BUILT("architecture", F_STRING), BUILT("evictionStrategy", F_STRING),
	       LATER("hostname", F_STRING), LATER("subdomain", F_STRING),
	       LATER("startStrategy", F_STRING), LATER_OF("affinity", F_OBJECT, schema_affinity),
	       LATER_OF("accessCredentials", F_LIST, credential),
	       LATER_OF("dnsConfig", F_OBJECT, schema_dns_config), LATER("dnsPolicy", F_STRING),
	       LATER_OF("livenessProbe", F_OBJECT, schema_probe),
	       LATER_OF("readinessProbe", F_OBJECT, schema_probe), LATER("nodeSelector", F_MAP),
	       LATER("priorityClassName", F_STRING), LATER("schedulerName", F_STRING),
	       LATER_OF("tolerations", F_LIST, schema_toleration),
	       LATER_OF("topologySpreadConstraints", F_LIST, schema_topology_spread),
	       LATER_OF("resourceClaims", F_LIST, resource_claim),
	       LATER_OF("utilityVolumes", F_LIST, utility_volume));

const struct schema schema_vmi =
	SCHEMA(BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
	       BUILT_OF("metadata", F_OBJECT, schema_metadata),
	       BUILT_OF("spec", F_OBJECT, schema_vmi_spec), BUILT("status", F_ANY));

static const struct schema matcher =
	SCHEMA(BUILT("name", F_STRING), BUILT("kind", F_STRING), BUILT("revisionName", F_STRING),
	       BUILT("inferFromVolume", F_STRING), BUILT("inferFromVolumeFailurePolicy", F_STRING));
static const struct schema template = SCHEMA(BUILT_OF("metadata", F_OBJECT, schema_metadata),
					     BUILT_OF("spec", F_OBJECT, schema_vmi_spec));
static const struct schema vm_spec = SCHEMA(
	BUILT("running", F_BOOL), BUILT("runStrategy", F_STRING),
	BUILT_OF("template", F_OBJECT, template), LATER_OF("instancetype", F_OBJECT, matcher),
	LATER_OF("preference", F_OBJECT, matcher),
	LATER_OF("dataVolumeTemplates", F_LIST, schema_data_volume),
	LATER("updateVolumesStrategy", F_STRING));

const struct schema schema_vm = SCHEMA(BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
				       BUILT_OF("metadata", F_OBJECT, schema_metadata),
				       BUILT_OF("spec", F_OBJECT, vm_spec), BUILT("status", F_ANY));
