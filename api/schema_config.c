// SPDX-License-Identifier: Apache-2.0
/*
 * The configuration kinds. Only what changes how VMs run here is built; feature gates are taken with
 * any name, as they only permit: what a gate permits is refused by its own path until it is built.
 */
#include "api/schema_table.h"

static const struct schema developer =
	SCHEMA(BUILT("useEmulation", F_BOOL), BUILT("featureGates", F_STRINGS),
	       LATER("disabledFeatureGates", F_STRINGS), LATER("clusterProfiler", F_BOOL),
	       LATER("cpuAllocationRatio", F_INT), LATER("diskVerification", F_ANY),
	       LATER("logVerbosity", F_ANY), LATER("memoryOvercommit", F_INT),
	       LATER("minimumClusterTSCFrequency", F_INT), LATER("minimumReservePVCBytes", F_INT),
	       LATER("nodeSelectors", F_MAP), LATER("pvcTolerateLessSpaceUpToPercent", F_INT));

static const struct schema plugin =
	SCHEMA(BUILT("domainAttachmentType", F_STRING), BUILT("migration", F_ANY),
	       LATER("computeResourceOverhead", F_ANY), LATER("downwardAPI", F_STRING),
	       LATER("networkAttachmentDefinition", F_STRING), LATER("sidecarImage", F_STRING));
static const struct schema network = SCHEMA(
	BUILT_OF("binding", F_OBJECTS, plugin), LATER("defaultNetworkInterface", F_STRING),
	LATER("permitBridgeInterfaceOnPodNetwork", F_BOOL), LATER("permitSlirpInterface", F_BOOL));

static const struct schema configuration = SCHEMA(
	BUILT_OF("developerConfiguration", F_OBJECT, developer),
	BUILT_OF("network", F_OBJECT, network),
	LATER("additionalGuestMemoryOverheadRatio", F_STRING), LATER("apiConfiguration", F_ANY),
	LATER("architectureConfiguration", F_ANY),
	LATER("autoCPULimitNamespaceLabelSelector", F_ANY),
	LATER("changedBlockTrackingLabelSelectors", F_ANY),
	LATER("commonInstancetypesDeployment", F_ANY), LATER("confidentialCompute", F_ANY),
	LATER("controllerConfiguration", F_ANY), LATER("cpuModel", F_STRING),
	LATER("cpuRequest", F_QUANTITY), LATER("defaultRuntimeClass", F_STRING),
	LATER("emulatedMachines", F_STRINGS), LATER("evictionStrategy", F_STRING),
	LATER("handlerConfiguration", F_ANY), LATER("hypervisors", F_ANY),
	BUILT("imagePullPolicy", F_STRING), LATER("instancetype", F_ANY),
	LATER("ksmConfiguration", F_ANY), LATER("liveUpdateConfiguration", F_ANY),
	LATER("machineType", F_STRING), LATER("mediatedDevicesConfiguration", F_ANY),
	LATER("memBalloonStatsPeriod", F_UINT), LATER("migrations", F_ANY),
	LATER("minCPUModel", F_STRING), LATER("obsoleteCPUModels", F_ANY),
	LATER("ovmfPath", F_STRING), LATER("permittedHostDevices", F_ANY),
	LATER("persistentReservationConfiguration", F_ANY),
	LATER("roleAggregationStrategy", F_STRING), LATER("seccompConfiguration", F_ANY),
	LATER("selinuxLauncherType", F_STRING), LATER("smbios", F_ANY),
	LATER("supportContainerResources", F_ANY), LATER("supportedGuestAgentVersions", F_STRINGS),
	LATER("tlsConfiguration", F_ANY), LATER("virtTemplateDeployment", F_ANY),
	LATER("virtualMachineInstancesPerNode", F_INT), LATER("virtualMachineOptions", F_ANY),
	LATER("vmRolloutStrategy", F_STRING), LATER("vmStateStorageClass", F_STRING),
	LATER("webhookConfiguration", F_ANY));

/* KubeVirt's own release manifest has the empty ones: they speak to its operator */
static const struct schema kubevirt_spec =
	SCHEMA(BUILT_OF("configuration", F_OBJECT, configuration),
	       BUILT("certificateRotateStrategy", F_EMPTY), BUILT("customizeComponents", F_EMPTY),
	       BUILT("workloadUpdateStrategy", F_EMPTY), BUILT("imagePullPolicy", F_STRING),
	       LATER("imagePullSecrets", F_ANY), LATER("imageRegistry", F_STRING),
	       LATER("imageTag", F_STRING), LATER("infra", F_ANY), LATER("workloads", F_ANY),
	       LATER("monitorAccount", F_STRING), LATER("monitorNamespace", F_STRING),
	       LATER("productComponent", F_STRING), LATER("productName", F_STRING),
	       LATER("productVersion", F_STRING), LATER("serviceMonitorNamespace", F_STRING),
	       LATER("synchronizationPort", F_STRING), LATER("uninstallStrategy", F_STRING));

const struct schema schema_kubevirt =
	SCHEMA(BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
	       BUILT_OF("metadata", F_OBJECT, schema_metadata),
	       BUILT_OF("spec", F_OBJECT, kubevirt_spec), BUILT("status", F_ANY));

static const struct schema hco_developer = SCHEMA(BUILT("useEmulation", F_BOOL));

static const struct schema hco_spec = SCHEMA(
	BUILT_OF("developerConfiguration", F_OBJECT, hco_developer),
	BUILT_OF("networkBinding", F_OBJECTS, plugin), LATER("applicationAwareConfig", F_ANY),
	LATER("certConfig", F_ANY), LATER("commonBootImageNamespace", F_STRING),
	LATER("commonInstancetypesDeployment", F_ANY), LATER("commonTemplatesNamespace", F_STRING),
	LATER("dataImportCronTemplates", F_ANY), LATER("defaultCPUModel", F_STRING),
	LATER("defaultRuntimeClass", F_STRING), LATER("deployVmConsoleProxy", F_BOOL),
	LATER("enableCommonBootImageImport", F_BOOL), LATER("evictionStrategy", F_STRING),
	LATER("featureGates", F_ANY), LATER("filesystemOverhead", F_ANY),
	LATER("higherWorkloadDensity", F_ANY), LATER("infra", F_ANY),
	LATER("instancetypeConfig", F_ANY), LATER("ksmConfiguration", F_ANY),
	LATER("kubeSecondaryDNSNameServerIP", F_STRING), LATER("liveMigrationConfig", F_ANY),
	LATER("localStorageClassName", F_STRING), LATER("logVerbosityConfig", F_ANY),
	LATER("mediatedDevicesConfiguration", F_ANY), LATER("obsoleteCPUs", F_ANY),
	LATER("permittedHostDevices", F_ANY), LATER("resourceRequirements", F_ANY),
	LATER("scratchSpaceStorageClass", F_STRING), LATER("storageImport", F_ANY),
	LATER("tektonPipelinesNamespace", F_STRING), LATER("tektonTasksNamespace", F_STRING),
	LATER("tlsSecurityProfile", F_ANY), LATER("uninstallStrategy", F_STRING),
	LATER("vddkInitImage", F_STRING), LATER("virtualMachineOptions", F_ANY),
	LATER("vmStateStorageClass", F_STRING), LATER("workloadUpdateStrategy", F_ANY),
	LATER("workloads", F_ANY));

const struct schema schema_hyperconverged =
	SCHEMA(BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
	       BUILT_OF("metadata", F_OBJECT, schema_metadata),
	       BUILT_OF("spec", F_OBJECT, hco_spec), BUILT("status", F_ANY));

static const struct schema policy_options = {
	(const struct field[]){BUILT("full-pcpus-only", F_STRING), END_OF_FIELDS},
	NOT_YET "; of the CPU manager's policy options only full-pcpus-only is",
};

const struct schema schema_kubelet = {
	(const struct field[]){BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
			       BUILT_OF("metadata", F_OBJECT, schema_metadata),
			       BUILT("cpuManagerPolicy", F_STRING),
			       BUILT_OF("cpuManagerPolicyOptions", F_OBJECT, policy_options),
			       BUILT("reservedSystemCPUs", F_STRING),
			       BUILT("topologyManagerPolicy", F_STRING), END_OF_FIELDS},
	NOT_YET "; of the kubelet's settings cpuManagerPolicy, cpuManagerPolicyOptions, "
		"reservedSystemCPUs and topologyManagerPolicy are",
};

static const struct schema nad_spec = SCHEMA(BUILT("config", F_STRING));

const struct schema schema_nad =
	SCHEMA(BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
	       BUILT_OF("metadata", F_OBJECT, schema_metadata),
	       BUILT_OF("spec", F_OBJECT, nad_spec), BUILT("status", F_ANY));
