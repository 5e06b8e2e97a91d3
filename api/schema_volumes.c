// SPDX-License-Identifier: Apache-2.0
/* spec.volumes of a VMI, spec.dataVolumeTemplates of a VM. */
#include "api/schema_table.h"

#define HOST_DISK "use hostDisk: {path: PATH, type: Disk}, or an emptyDisk"

static const struct schema host_disk =
	SCHEMA(BUILT("path", F_STRING), BUILT("type", F_STRING), BUILT("capacity", F_QUANTITY),
	       LATER("shared", F_BOOL));
static const struct schema empty_disk = SCHEMA(BUILT("capacity", F_QUANTITY));

static const struct schema cloud_init =
	SCHEMA(BUILT("userData", F_STRING), BUILT("userDataBase64", F_STRING),
	       BUILT_OF("secretRef", F_OBJECT, schema_local_name), BUILT("networkData", F_STRING),
	       BUILT("networkDataBase64", F_STRING),
	       BUILT_OF("networkDataSecretRef", F_OBJECT, schema_local_name));
static const struct schema config_map =
	SCHEMA(BUILT("name", F_STRING), BUILT("optional", F_BOOL), BUILT("volumeLabel", F_STRING));
static const struct schema secret = SCHEMA(BUILT("secretName", F_STRING), BUILT("optional", F_BOOL),
					   BUILT("volumeLabel", F_STRING));
static const struct schema container_disk =
	SCHEMA(BUILT("image", F_STRING), BUILT("imagePullPolicy", F_STRING),
	       BUILT("imagePullSecret", F_STRING), BUILT("path", F_STRING));
static const struct schema claim = SCHEMA(BUILT("claimName", F_STRING), BUILT("readOnly", F_BOOL));
static const struct schema hot_claim = SCHEMA(
	BUILT("claimName", F_STRING), BUILT("readOnly", F_BOOL), BUILT("hotpluggable", F_BOOL));
static const struct schema ephemeral = SCHEMA(BUILT_OF("persistentVolumeClaim", F_OBJECT, claim));
static const struct schema data_volume =
	SCHEMA(BUILT("name", F_STRING), BUILT("hotpluggable", F_BOOL));
static const struct schema field_ref =
	SCHEMA(BUILT("apiVersion", F_STRING), BUILT("fieldPath", F_STRING));
static const struct schema resource_ref =
	SCHEMA(BUILT("containerName", F_STRING), BUILT("divisor", F_QUANTITY),
	       BUILT("resource", F_STRING));
static const struct schema downward_item = SCHEMA(
	BUILT("path", F_STRING), BUILT("mode", F_INT), BUILT_OF("fieldRef", F_OBJECT, field_ref),
	BUILT_OF("resourceFieldRef", F_OBJECT, resource_ref));
static const struct schema downward =
	SCHEMA(BUILT_OF("fields", F_LIST, downward_item), BUILT("volumeLabel", F_STRING));
static const struct schema service_account = SCHEMA(BUILT("serviceAccountName", F_STRING));
static const struct schema sysprep = SCHEMA(BUILT_OF("configMap", F_OBJECT, schema_local_name),
					    BUILT_OF("secret", F_OBJECT, schema_local_name));
static const struct schema container_path =
	SCHEMA(BUILT("path", F_STRING), BUILT("readOnly", F_BOOL));

const struct schema schema_volume = SCHEMA(
	BUILT("name", F_STRING), BUILT_OF("hostDisk", F_OBJECT, host_disk),
	BUILT_OF("emptyDisk", F_OBJECT, empty_disk),
	LATER_OF("cloudInitConfigDrive", F_OBJECT, cloud_init),
	LATER_OF("cloudInitNoCloud", F_OBJECT, cloud_init),
	LATER_OF("configMap", F_OBJECT, config_map),
	LATER_OF_FOR("containerDisk", F_OBJECT, container_disk, HOST_DISK),
	LATER_OF("containerPath", F_OBJECT, container_path),
	LATER_OF_FOR("dataVolume", F_OBJECT, data_volume, HOST_DISK),
	LATER_OF("downwardAPI", F_OBJECT, downward), LATER("downwardMetrics", F_EMPTY),
	LATER_OF_FOR("ephemeral", F_OBJECT, ephemeral, HOST_DISK),
	LATER_OF("memoryDump", F_OBJECT, hot_claim),
	LATER_OF_FOR("persistentVolumeClaim", F_OBJECT, hot_claim, HOST_DISK),
	LATER_OF("secret", F_OBJECT, secret), LATER_OF("serviceAccount", F_OBJECT, service_account),
	LATER_OF("sysprep", F_OBJECT, sysprep));

static const struct schema typed_ref =
	SCHEMA(BUILT("apiGroup", F_STRING), BUILT("kind", F_STRING), BUILT("name", F_STRING),
	       BUILT("namespace", F_STRING));
static const struct schema storage =
	SCHEMA(BUILT("accessModes", F_STRINGS), BUILT_OF("dataSource", F_OBJECT, typed_ref),
	       BUILT_OF("dataSourceRef", F_OBJECT, typed_ref),
	       BUILT_OF("resources", F_OBJECT, schema_resources),
	       BUILT_OF("selector", F_OBJECT, schema_selector), BUILT("storageClassName", F_STRING),
	       BUILT("volumeAttributesClassName", F_STRING), BUILT("volumeMode", F_STRING),
	       BUILT("volumeName", F_STRING));
static const struct schema data_volume_spec =
	SCHEMA(BUILT("source", F_ANY), BUILT_OF("sourceRef", F_OBJECT, typed_ref),
	       BUILT_OF("pvc", F_OBJECT, storage), BUILT_OF("storage", F_OBJECT, storage),
	       BUILT("checkpoints", F_ANY), BUILT("contentType", F_STRING),
	       BUILT("finalCheckpoint", F_BOOL), BUILT("preallocation", F_BOOL),
	       BUILT("priorityClassName", F_STRING));

const struct schema schema_data_volume =
	SCHEMA(BUILT("apiVersion", F_STRING), BUILT("kind", F_STRING),
	       BUILT_OF("metadata", F_OBJECT, schema_metadata),
	       BUILT_OF("spec", F_OBJECT, data_volume_spec), BUILT("status", F_ANY));
