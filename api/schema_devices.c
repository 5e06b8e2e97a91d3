// SPDX-License-Identifier: Apache-2.0
/* spec.domain.devices. */
#include "api/schema_table.h"

#define L2BRIDGE "use binding: {name: l2bridge}, or bridge: {}"

static const struct schema custom_block = SCHEMA(
	BUILT("logical", F_UINT), BUILT("physical", F_UINT), BUILT("discardGranularity", F_UINT));
static const struct schema block_size = SCHEMA(BUILT_OF("custom", F_OBJECT, custom_block),
					       BUILT_OF("matchVolume", F_OBJECT, schema_enabled));
static const struct schema disk_target =
	SCHEMA(BUILT("bus", F_STRING), BUILT("readonly", F_BOOL), LATER("pciAddress", F_STRING));
static const struct schema cdrom_target =
	SCHEMA(BUILT("bus", F_STRING), BUILT("readonly", F_BOOL), BUILT("tray", F_STRING));
static const struct schema lun_target =
	SCHEMA(BUILT("bus", F_STRING), BUILT("readonly", F_BOOL), BUILT("reservation", F_BOOL));

static const struct schema disk =
	SCHEMA(BUILT("name", F_STRING), BUILT_OF("disk", F_OBJECT, disk_target),
	       BUILT_OF("cdrom", F_OBJECT, cdrom_target), LATER_OF("lun", F_OBJECT, lun_target),
	       BUILT("bootOrder", F_COUNT), BUILT("serial", F_STRING), BUILT("cache", F_STRING),
	       BUILT("io", F_STRING), BUILT("shareable", F_BOOL), LATER("errorPolicy", F_STRING),
	       LATER("dedicatedIOThread", F_BOOL), LATER("tag", F_STRING),
	       LATER_OF("blockSize", F_OBJECT, block_size), LATER("changedBlockTracking", F_BOOL));

static const struct schema private_option =
	SCHEMA(BUILT("option", F_INT), BUILT("value", F_STRING));
static const struct schema dhcp_options = SCHEMA(
	BUILT("bootFileName", F_STRING), BUILT("ntpServers", F_STRINGS),
	BUILT_OF("privateOptions", F_LIST, private_option), BUILT("tftpServerName", F_STRING));
static const struct schema port =
	SCHEMA(BUILT("name", F_STRING), BUILT("port", F_INT), BUILT("protocol", F_STRING));
static const struct schema port_range =
	SCHEMA(BUILT("start", F_INT), BUILT("end", F_INT), BUILT("protocol", F_STRING));

static const struct schema interface =
	SCHEMA(BUILT("name", F_STRING), BUILT_OF("binding", F_OBJECT, schema_local_name),
	       BUILT("bridge", F_EMPTY), BUILT("model", F_STRING), BUILT("macAddress", F_STRING),
	       BUILT("bootOrder", F_COUNT), LATER_FOR("masquerade", F_EMPTY, L2BRIDGE),
	       LATER_FOR("sriov", F_EMPTY, L2BRIDGE), LATER_FOR("slirp", F_EMPTY, L2BRIDGE),
	       LATER_FOR("macvtap", F_EMPTY, L2BRIDGE), LATER_FOR("passt", F_EMPTY, L2BRIDGE),
	       LATER_FOR("passtBinding", F_EMPTY, L2BRIDGE), LATER_OF("ports", F_LIST, port),
	       LATER_OF("portRanges", F_LIST, port_range),
	       LATER_OF("dhcpOptions", F_OBJECT, dhcp_options), LATER("pciAddress", F_STRING),
	       LATER("acpiIndex", F_INT), LATER("state", F_STRING), LATER("tag", F_STRING));

static const struct schema display =
	SCHEMA(BUILT("enabled", F_BOOL), BUILT_OF("ramFB", F_OBJECT, schema_enabled));
static const struct schema vgpu = SCHEMA(BUILT_OF("display", F_OBJECT, display));
static const struct schema gpu =
	SCHEMA(BUILT("name", F_STRING), BUILT("deviceName", F_STRING), BUILT("claimName", F_STRING),
	       BUILT("requestName", F_STRING), BUILT("tag", F_STRING),
	       BUILT_OF("virtualGPUOptions", F_OBJECT, vgpu));
static const struct schema host_device =
	SCHEMA(BUILT("name", F_STRING), BUILT("deviceName", F_STRING), BUILT("claimName", F_STRING),
	       BUILT("requestName", F_STRING), BUILT("tag", F_STRING));
static const struct schema input =
	SCHEMA(BUILT("name", F_STRING), BUILT("type", F_STRING), BUILT("bus", F_STRING));
static const struct schema filesystem = SCHEMA(BUILT("name", F_STRING), BUILT("virtiofs", F_EMPTY));
static const struct schema panic = SCHEMA(BUILT("model", F_STRING));
static const struct schema sound = SCHEMA(BUILT("name", F_STRING), BUILT("model", F_STRING));
static const struct schema tpm = SCHEMA(BUILT("enabled", F_BOOL), BUILT("persistent", F_BOOL));
static const struct schema video = SCHEMA(BUILT("type", F_STRING));
static const struct schema action = SCHEMA(BUILT("action", F_STRING));
static const struct schema watchdog =
	SCHEMA(BUILT("name", F_STRING), BUILT_OF("i6300esb", F_OBJECT, action),
	       LATER_OF("diag288", F_OBJECT, action));

const struct schema schema_devices =
	SCHEMA(BUILT_OF("disks", F_LIST, disk), BUILT_OF("interfaces", F_LIST, interface),
	       BUILT("autoattachPodInterface", F_BOOL), BUILT("autoattachSerialConsole", F_BOOL),
	       BUILT("logSerialConsole", F_BOOL), BUILT("autoattachGraphicsDevice", F_BOOL),
	       BUILT("autoattachMemBalloon", F_BOOL), BUILT("networkInterfaceMultiqueue", F_BOOL),
	       BUILT("rng", F_EMPTY), BUILT_OF("watchdog", F_OBJECT, watchdog),
	       BUILT("disableHotplug", F_BOOL), LATER("autoattachInputDevice", F_BOOL),
	       LATER("autoattachVSOCK", F_BOOL), LATER("blockMultiQueue", F_BOOL),
	       LATER("clientPassthrough", F_EMPTY), LATER("downwardMetrics", F_EMPTY),
	       LATER_OF("filesystems", F_LIST, filesystem), LATER_OF("gpus", F_LIST, gpu),
	       LATER_OF("hostDevices", F_LIST, host_device), LATER_OF("inputs", F_LIST, input),
	       LATER_OF("panicDevices", F_LIST, panic), LATER_OF("sound", F_OBJECT, sound),
	       LATER_OF("tpm", F_OBJECT, tpm), LATER("useVirtioTransitional", F_BOOL),
	       LATER_OF("video", F_OBJECT, video));
