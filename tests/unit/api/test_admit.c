// SPDX-License-Identifier: Apache-2.0
/* Manifests that people write, and every word of the answer that they get (field cases Y1 to Y14). */
#include "tests/unit/unit.h"

#include "tests/unit/api/objects.h"

/* A VMI whose domain and volumes are fine but for what a case puts in. */
#define NO_NET "      autoattachPodInterface: false\n"

static void answers(const char *manifest, const char *const *expected)
{
	_cleanup_yaml_doc_ struct yaml_doc *doc = doc_of(manifest);
	_cleanup_causes_ struct causes causes = {0};
	const struct kind *kind;
	size_t n = 0;
	int r = admit(yaml_doc_root(doc), NULL, &kind, &causes);

	for (; expected[n]; n++) {
		_cleanup_free_ char *text =
			n < causes.n ? cause_text(&causes.list[n], doc) : xstrdup("(no more)");

		assert_string_equal(text, expected[n]);
	}
	if (causes.n > n)
		fail_msg("also: %s: %s", causes.list[n].field, causes.list[n].message);
	assert_int_equal(r, n ? -22 : 0);
}

#define ANSWERS(manifest, ...) answers(manifest, (const char *const[]){__VA_ARGS__, NULL})

static void numbers_in_quotes(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    cpu:\n      cores: \"4\"\n    memory: {guest: 1Gi}\n",
		"vm.yaml:7: spec.domain.cpu.cores: is the string \"4\", must be a number: write "
		"cores: 4 without quotes");
	ANSWERS(VMI_HEAD "  domain:\n    devices: {autoattachPodInterface: 'false'}\n",
		"vm.yaml:6: spec.domain.devices.autoattachPodInterface: is the string \"false\", "
		"must "
		"be true or false: write autoattachPodInterface: false without quotes");
	ANSWERS(VMI_HEAD "  domain: {cpu: {model: 486}}\n",
		"vm.yaml:5: spec.domain.cpu.model: is the number 486, must be a string: put it "
		"in quotes");
	ANSWERS(VMI_HEAD "  architecture: no\n",
		"vm.yaml:5: spec.architecture: is the boolean false, must be a string: put the "
		"word "
		"in quotes (YAML reads yes, no, on, off, y and n as true and false)");
}

static void scalars_lists_and_maps_mixed_up(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    cpu: 4\n", "vm.yaml:6: spec.domain.cpu: is the number 4, "
						    "must be a map such as cpu: {cores: 4}");
	ANSWERS(VMI_HEAD "  domain:\n    memory: 2Gi\n",
		"vm.yaml:6: spec.domain.memory: is the string \"2Gi\", must be a map such as "
		"memory: "
		"{guest: 2Gi}");
	ANSWERS(VMI_HEAD "  volumes:\n    root: {emptyDisk: {capacity: 1Gi}}\n",
		"vm.yaml:5: spec.volumes: is a map, must be a list: begin each item with \"- \"");
	ANSWERS(VMI_HEAD "  domain: [cpu]\n", "vm.yaml:5: spec.domain: is a list, must be a map");
	ANSWERS(VMI_HEAD "  volumes: [root, null]\n",
		"vm.yaml:5: spec.volumes[0]: is the string \"root\", must be a map such as "
		"volumes: "
		"{name: root}",
		"vm.yaml:5: spec.volumes[1]: is null, must be a map");
}

static void numbers_out_of_range(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain: {cpu: {cores: 0, sockets: -1, threads: 1.5}}\n",
		"vm.yaml:5: spec.domain.cpu.cores: is 0, must be at least 1: leave it out for the "
		"default",
		"vm.yaml:5: spec.domain.cpu.sockets: is -1, must be from 1 to 4294967295",
		"vm.yaml:5: spec.domain.cpu.threads: is 1.5, must be a whole number, written "
		"without point or exponent");
	ANSWERS(VMI_HEAD "  domain: {cpu: {cores: 18446744073709551617}}\n"
			 "  terminationGracePeriodSeconds: -9223372036854775809\n",
		"vm.yaml:5: spec.domain.cpu.cores: is 1.84467440737096e+19, must be from 1 to "
		"4294967295",
		"vm.yaml:6: spec.terminationGracePeriodSeconds: is -9.22337203685478e+18, must be "
		"from -9223372036854775808 to 9223372036854775807");
	ANSWERS(VMI_HEAD "  domain: {memory: {guest: 64MiB}}\n",
		"vm.yaml:5: spec.domain.memory.guest: '64MiB' is not a quantity: it must be a "
		"number "
		"and a suffix without a blank between, such as 2, 500m or 1.5Gi");
}

static void what_is_not_there(void **state)
{
	(void)state;
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a}\n",
		"vm.yaml:1: spec: is missing: it describes the machine");
	ANSWERS(VMI_HEAD "  domain:\n",
		"vm.yaml:5: spec.domain: is missing: it describes the machine");
	ANSWERS(VMI_HEAD "  domian:\n", "vm.yaml:5: spec.domian: is not a field: did you mean "
					"domain?");
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\n"
		"spec: {runStrategy: Halted, template: {}}\n",
		"vm.yaml:4: spec.template.spec: is missing: it describes the machine");
}

/* A key may be any text: it stays one line on a terminal, and the whole of it in the API's answer. */
static void keys_and_values_of_any_text(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    \"a\\nb\": 1\n    \"\\e[2J]x.\": 1\n",
		"vm.yaml:6: spec.domain.a?b: is not a field of this object: the API has none of "
		"that name",
		"vm.yaml:5: spec.domain[?[2J]x.]: is not a field of this object: the API has none "
		"of that name");
	/* cut inside a letter it would be no UTF-8, and no JSON */
	ANSWERS(VMI_HEAD
		"  architecture: xüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü\n"
		"  domain: {memory: {guest: 1Gi}, devices: {autoattachPodInterface: false}}\n",
		"vm.yaml:5: spec.architecture: is 'xüüüüüüüüüüüüüüüüüüüüüüüüüüüüü?', must be "
		"amd64");
}

/* #1585, and what official documents have in the wrong place */
static void fields_in_the_wrong_place(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  resources: {requests: {memory: 64Mi}}\n  machine: {type: q35}\n",
		"vm.yaml:5: spec.resources: is not a field: belongs under spec.domain",
		"vm.yaml:6: spec.machine: is not a field: belongs under spec.domain");
	ANSWERS(VMI_HEAD "  domain:\n    cpu: {ioThreadsPolicy: auto}\n"
			 "    terminationGracePeriodSeconds: 3\n",
		"vm.yaml:6: spec.domain.cpu.ioThreadsPolicy: is not a field: belongs under "
		"spec.domain",
		"vm.yaml:7: spec.domain.terminationGracePeriodSeconds: is not a field: belongs "
		"under "
		"spec");
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\n"
		"spec:\n  runStrategy: Always\n  domain: {cpu: {cores: 2}}\n",
		"vm.yaml:6: spec.domain: is not a field: belongs under spec.template.spec");
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: KubeVirt\nmetadata: {name: k}\n"
		"spec:\n  useEmulation: true\n",
		"vm.yaml:5: spec.useEmulation: is not a field: belongs under "
		"spec.configuration.developerConfiguration");
}

/* as far as three steps, and no farther than one for names that stand everywhere */
static void fields_far_from_their_place(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  kernelArgs: quiet\n  image: x\n",
		"vm.yaml:5: spec.kernelArgs: is not a field: belongs under "
		"spec.domain.firmware.kernelBoot",
		"vm.yaml:6: spec.image: is not a field of this object: the API has none of that "
		"name");
}

static void misspelt_fields(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    devices:\n      autoattachGraphicsDevices: false\n"
			 "      disks: [{name: a, cdrom: {readyOnly: true}}]\n"
			 "  Volumes: []\n",
		"vm.yaml:7: spec.domain.devices.autoattachGraphicsDevices: is not a field: did you "
		"mean autoattachGraphicsDevice?",
		"vm.yaml:8: spec.domain.devices.disks[0].cdrom.readyOnly: is not a field: did you "
		"mean readonly?",
		"vm.yaml:9: spec.Volumes: is not a field: is spelt volumes");
	ANSWERS(VMI_HEAD "  volumes: [{name: a, persistentVolumeClaim: {claimname: x}}]\n",
		"vm.yaml:5: spec.volumes[0].persistentVolumeClaim: is not supported yet: use "
		"hostDisk: {path: PATH, type: Disk}, or an emptyDisk",
		"vm.yaml:5: spec.volumes[0].persistentVolumeClaim.claimname: is not a field: is "
		"spelt "
		"claimName");
	ANSWERS(VMI_HEAD "  colour: red\n",
		"vm.yaml:5: spec.colour: is not a field of this object: the API has none of that "
		"name");
}

static void all_at_once_with_their_lines(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n"
			 "    memory: {guest: 1Gi}\n"
			 "    devices:\n" NO_NET "      disks:\n"
			 "      - name: root\n"
			 "        disk: {bus: ide}\n"
			 "        bootOrder: 1\n"
			 "      - name: root\n"
			 "        cdrom: {bus: virtio}\n"
			 "        bootOrder: 1\n"
			 "        cache: fast\n"
			 "      - name: other\n"
			 "        disk: {bus: usb}\n"
			 "  volumes:\n"
			 "  - name: root\n"
			 "    hostDisk: {path: a/b, type: Disk, capacity: 1Gi}\n"
			 "  - name: root\n"
			 "    emptyDisk: {}\n"
			 "  tolerations: []\n",
		"vm.yaml:24: spec.tolerations: is not supported yet",
		"vm.yaml:13: spec.domain.devices.disks[1].name: 'root' is the name of "
		"domain.devices.disks[0] already",
		"vm.yaml:22: spec.volumes[1].name: 'root' is the name of volumes[0] already",
		"vm.yaml:11: spec.domain.devices.disks[0].disk.bus: ide is not there: use sata, "
		"virtio or scsi",
		"vm.yaml:14: spec.domain.devices.disks[1].cdrom.bus: virtio has no CD-ROMs: use "
		"sata "
		"or scsi",
		"vm.yaml:16: spec.domain.devices.disks[1].cache: is 'fast', must be none, "
		"writethrough or writeback",
		"vm.yaml:17: spec.domain.devices.disks[2].name: 'other' is not the name of a "
		"volume: "
		"add it to volumes",
		"vm.yaml:18: spec.domain.devices.disks[2].disk.bus: usb is not supported yet",
		"vm.yaml:21: spec.volumes[0].hostDisk.path: is 'a/b', must be an absolute path of "
		"printable characters, without '..'",
		"vm.yaml:21: spec.volumes[0].hostDisk.capacity: goes with type DiskOrCreate only: "
		"a "
		"Disk has the image's size",
		"vm.yaml:23: spec.volumes[1].emptyDisk.capacity: is missing: say how large the "
		"disk "
		"is, such as 2Gi",
		"vm.yaml:15: spec.domain.devices.disks[1].bootOrder: 1 is another device's "
		"already: "
		"give each its own");
}

static void dedicated_cpus(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    cpu: {dedicatedCpuPlacement: true, threads: 4}\n"
			 "    memory: {guest: 1Gi}\n"
			 "    resources:\n"
			 "      requests: {memory: 1Gi, cpu: 2500m}\n"
			 "      limits: {memory: 2Gi, cpu: 3}\n"
			 "    devices:\n" NO_NET,
		"vm.yaml:9: spec.domain.resources.requests.memory: is '1Gi', must equal "
		"limits.memory, '2Gi', with dedicated CPUs: leave one of them out",
		"vm.yaml:9: spec.domain.resources.requests.cpu: is '2500m', must be a whole number "
		"with dedicated CPUs",
		"vm.yaml:6: spec.domain.cpu.dedicatedCpuPlacement: needs requests.cpu and "
		"limits.cpu "
		"to be equal, they are '2500m' and '3': leave one of them out");
	ANSWERS(VMI_HEAD "  domain:\n    cpu: {dedicatedCpuPlacement: true, threads: 3}\n"
			 "    memory: {guest: 1Gi}\n    devices:\n" NO_NET,
		"vm.yaml:6: spec.domain.cpu.threads: is 3, must be 1 or 2 with dedicated CPUs");
	ANSWERS(VMI_HEAD "  domain:\n    cpu: {isolateEmulatorThread: true}\n"
			 "    memory: {guest: 1Gi}\n    devices:\n" NO_NET,
		"vm.yaml:6: spec.domain.cpu.isolateEmulatorThread: needs dedicatedCpuPlacement: "
		"true "
		"beside it");
	ANSWERS(VMI_HEAD "  domain:\n    cpu: {isolateEmulatorThread: true, cores: 600}\n"
			 "    memory: {guest: 1Gi}\n    devices:\n" NO_NET,
		"vm.yaml:6: spec.domain.cpu: asks for 1 sockets of 600 cores of 1 threads, must be "
		"at "
		"most 512 vCPUs");
	ANSWERS(VMI_HEAD "  domain:\n    cpu: {dedicatedCpuPlacement: true, cores: 2}\n"
			 "    memory: {guest: 1Gi}\n"
			 "    resources: {limits: {cpu: 3}}\n    devices:\n" NO_NET,
		"vm.yaml:6: spec.domain.cpu.dedicatedCpuPlacement: needs requests.cpu, '3', to "
		"equal "
		"the 2 vCPUs of sockets × cores × threads",
		"vm.yaml:6: spec.domain.cpu.dedicatedCpuPlacement: needs limits.cpu, '3', to equal "
		"the 2 vCPUs of sockets × cores × threads");
}

static void networks(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain: {memory: {guest: 1Gi}}\n",
		"vm.yaml:4: spec.networks[0].pod: the pod network is not supported yet: plug the "
		"interface into a NetworkAttachmentDefinition (multus: {networkName: NAME}), or "
		"say "
		"spec.domain.devices.autoattachPodInterface: false for a VM without network");
	ANSWERS(VMI_HEAD
		"  domain:\n    memory: {guest: 1Gi}\n    devices:\n      interfaces:\n"
		"      - {name: a, binding: {name: macvtap}, macAddress: 'fe:00:00:00:00:01'}\n"
		"      - {name: a, bridge: {}, macAddress: '01:00:00:00:00:01'}\n"
		"      - {name: b, bridge: {}, model: igb, macAddress: q}\n"
		"  networks:\n  - {name: a, multus: {networkName: lan}}\n",
		"vm.yaml:9: spec.domain.devices.interfaces[0].binding.name: 'macvtap' is not "
		"supported yet: use l2bridge, or bridge: {}",
		"vm.yaml:9: spec.domain.devices.interfaces[0].macAddress: MAC address "
		"fe:00:00:00:00:01 begins with fe, which is kept for the host's taps: begin with "
		"02 "
		"instead",
		"vm.yaml:10: spec.domain.devices.interfaces[1].macAddress: MAC address "
		"01:00:00:00:00:01 is a multicast address: the first byte must be even",
		"vm.yaml:10: spec.domain.devices.interfaces[1].name: 'a' is the name of another "
		"interface: a network takes one",
		"vm.yaml:11: spec.domain.devices.interfaces[2].model: igb is not supported yet: "
		"use "
		"virtio, e1000e, e1000 or rtl8139",
		"vm.yaml:11: spec.domain.devices.interfaces[2].macAddress: is 'q', must be six "
		"pairs "
		"of hex digits such as 02:00:5e:10:00:01",
		"vm.yaml:11: spec.domain.devices.interfaces[2].name: 'b' is not the name of a "
		"network: add it to networks");
}

static void bindings(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain: {memory: {guest: 1Gi}, devices: {interfaces: [{name: a, "
			 "masquerade: {}}]}}\n"
			 "  networks: [{name: a, multus: {networkName: lan}}]\n",
		"vm.yaml:5: spec.domain.devices.interfaces[0].masquerade: is not supported yet: "
		"use "
		"binding: {name: l2bridge}, or bridge: {}");
	ANSWERS(VMI_HEAD "  domain:\n    memory: {guest: 1Gi}\n    devices:\n      interfaces:\n"
			 "      - {name: a, bridge: {}, binding: {name: l2bridge}}\n"
			 "      - {name: b}\n"
			 "      - {name: _c, binding: {}}\n"
			 "  networks:\n  - {name: a, multus: {networkName: lan}}\n"
			 "  - {name: b, multus: {networkName: a/b/c}}\n"
			 "  - {name: _c}\n"
			 "  - {name: d, multus: {}}\n",
		"vm.yaml:9: spec.domain.devices.interfaces[0]: has 2 bindings, must have exactly "
		"one: "
		"binding: {name: l2bridge}, or bridge: {}",
		"vm.yaml:10: spec.domain.devices.interfaces[1]: has 0 bindings, must have exactly "
		"one: binding: {name: l2bridge}, or bridge: {}",
		"vm.yaml:11: spec.domain.devices.interfaces[2].binding.name: is missing: say "
		"l2bridge",
		"vm.yaml:11: spec.domain.devices.interfaces[2].name: is '_c', must be at most 63 "
		"letters, digits, '-' and '_', no '-' or '_' at its ends",
		"vm.yaml:14: spec.networks[1].multus.networkName: is 'a/b/c', must be NAME or "
		"NAMESPACE/NAME",
		"vm.yaml:15: spec.networks[2]: has 0 types, must have exactly one: multus: "
		"{networkName: NAME}",
		"vm.yaml:16: spec.networks[3].multus.networkName: is missing: name a "
		"NetworkAttachmentDefinition",
		"vm.yaml:16: spec.networks[3].name: 'd' has no interface of that name: add it to "
		"domain.devices.interfaces");
}

static void kernel_boot(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD
		"  domain:\n    memory: {guest: 1Gi}\n    devices:\n" NO_NET
		"    machine: {type: 'q35,dump=on'}\n"
		"    firmware:\n      uuid: x\n      kernelBoot:\n"
		"        container:\n          image: ''\n          initrdPath: boot/initrd\n"
		"          imagePullPolicy: Always\n",
		"vm.yaml:9: spec.domain.machine.type: is 'q35,dump=on', must be q35 or one of "
		"pc-q35-*",
		"vm.yaml:11: spec.domain.firmware.uuid: is 'x', must be a UUID such as "
		"3c5d1c3e-0b8f-4d55-9a7e-1f0a51b2c3d4",
		"vm.yaml:14: spec.domain.firmware.kernelBoot.container.image: is missing: it names "
		"the folder or image with the kernel",
		"vm.yaml:15: spec.domain.firmware.kernelBoot.container.initrdPath: is "
		"'boot/initrd', "
		"must be an absolute path of printable characters, without '..'",
		"vm.yaml:13: spec.domain.firmware.kernelBoot.container.kernelPath: is missing: "
		"QEMU "
		"takes no initrd without a kernel",
		"vm.yaml:16: spec.domain.firmware.kernelBoot.container.imagePullPolicy: Always is "
		"not supported yet: images are not pulled; say IfNotPresent");
}

static void sizes_beyond_any_host(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    memory: {guest: 1025Ti}\n"
			 "    resources: {limits: {memory: 2Pi}}\n    devices:\n" NO_NET
			 "  volumes:\n  - {name: a, emptyDisk: {capacity: 5Pi}}\n",
		"vm.yaml:6: spec.domain.memory.guest: is '1025Ti', must be at most 1 PiB",
		"vm.yaml:7: spec.domain.resources.limits.memory: is '2Pi', must be at most 1 PiB",
		"vm.yaml:11: spec.volumes[0].emptyDisk.capacity: is '5Pi', must not be negative, "
		"and "
		"at most 4 PiB");
}

static void hotplug_is_not_there(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    cpu: {sockets: 2, maxSockets: 3}\n"
			 "    memory: {guest: 1Gi, maxGuest: 2Gi}\n"
			 "    resources: {requests: {devices.kubevirt.io/kvm: 1}}\n"
			 "    devices:\n" NO_NET,
		"vm.yaml:8: spec.domain.resources.requests[devices.kubevirt.io/kvm]: is not "
		"supported "
		"yet: cpu and memory are",
		"vm.yaml:6: spec.domain.cpu.maxSockets: is not supported yet: CPUs can't be added "
		"to "
		"a running guest",
		"vm.yaml:7: spec.domain.memory.maxGuest: is not supported yet: memory can't be "
		"added "
		"to a running guest");
}

static void kinds_and_names(void **state)
{
	(void)state;
	ANSWERS("apiVersion: v1\nkind: VirtualMachine\n",
		"vm.yaml:1: apiVersion: 'v1' has no kind VirtualMachine; it is in kubevirt.io/v1");
	ANSWERS("kind: VirtualMachine\n",
		"vm.yaml:1: apiVersion: is missing; of a VirtualMachine it is kubevirt.io/v1");
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: vmi\n",
		"vm.yaml:2: kind: 'vmi' is written VirtualMachineInstance");
	ANSWERS("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: "
		"n234567890123456789012345678901234567890123456789012345678901234\n",
		"vm.yaml:4: metadata.name: "
		"'n234567890123456789012345678901234567890123456789012345678901234' is 64 bytes "
		"long; at most 63 are allowed");
	ANSWERS("apiVersion: v1\nkind: Namespace\nmetadata: {name: a.b}\n",
		"vm.yaml:3: metadata.name: 'a.b': '.' at character 2 is not allowed; lower-case "
		"letters, digits and '-' are");
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: 7\n",
		"vm.yaml:2: kind: must be a string, such as VirtualMachineInstance");
	ANSWERS("ApiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\n",
		"vm.yaml:1: ApiVersion: is spelt apiVersion");
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nspec:\n  domain:\n"
		"    memory: {guest: 1Gi}\n    devices:\n" NO_NET,
		"vm.yaml:1: metadata.name: is missing");
	ANSWERS("apiVersion: v1\nkind: Namespace\nmetadata: {generateName: a-}\n", NULL);
	ANSWERS("apiVersion: v1\nkind: Namespace\nmetadata: {name: A_b, labels: {x: -}}\n",
		"vm.yaml:3: metadata.name: 'A_b': 'A' at character 1 is not allowed; lower-case "
		"letters, digits and '-' are",
		"vm.yaml:3: metadata.labels: x: '-': '-' at character 1 can't stand first; a "
		"letter "
		"or digit must");
}

static void one_image_twice(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain:\n    memory: {guest: 1Gi}\n    machine: {type: pc-i440fx-7.2}\n"
			 "    resources: {requests: {memory: 999999}}\n    devices:\n" NO_NET
			 "  volumes:\n"
			 "  - {name: a, hostDisk: {path: /a.img, type: Disk}}\n"
			 "  - {name: b, hostDisk: {path: /a.img, type: Disk}}\n",
		"vm.yaml:8: spec.domain.resources.requests.memory: is '999999', must be at least "
		"1M",
		"vm.yaml:7: spec.domain.machine.type: is 'pc-i440fx-7.2', must be q35 or one of "
		"pc-q35-*",
		"vm.yaml:13: spec.volumes[1].hostDisk.path: is the image of volumes[0], too: give "
		"each its own");
}

/* structure first: what follows from it is not reported on top */
static void rules_wait_for_structure(void **state)
{
	(void)state;
	ANSWERS(VMI_HEAD "  domain: {memory: 1Gi, machine: {type: x}}\n",
		"vm.yaml:5: spec.domain.memory: is the string \"1Gi\", must be a map such as "
		"memory: {guest: 1Gi}");
}

static void our_annotations(void **state)
{
	(void)state;
	ANSWERS("apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata:\n  name: a\n"
		"  annotations:\n    virtpod.io/isolation: user=off, gpu=off\n"
		"    virtpod.io/exclusivity: kernel\n    virtpod.io/isolaton: x\n"
		"    irq-load-balancing.crio.io: disable\n"
		"spec:\n  domain:\n    memory: {guest: 1Gi}\n    devices:\n" NO_NET,
		"vm.yaml:6: metadata.annotations[virtpod.io/isolation]: 'gpu' is not a layer; "
		"layers "
		"are user, pid, mount, net, ipc, uts, cgroup, devices, capabilities, no-new-privs, "
		"dumpable, limits, seccomp",
		"vm.yaml:7: metadata.annotations[virtpod.io/exclusivity]: kernel needs "
		"spec.domain.cpu.dedicatedCpuPlacement: true",
		"vm.yaml:8: metadata.annotations[virtpod.io/isolaton]: is not known: known are "
		"virtpod.io/isolation and virtpod.io/exclusivity",
		"vm.yaml:9: metadata.annotations[irq-load-balancing.crio.io]: is not supported "
		"yet");
}

/* null is absent, as in Kubernetes; v1alpha3 is stored as v1; a namespace is filled in */
static void admitted_as_stored(void **state)
{
	_cleanup_json_ json_t *obj = admitted(
		"apiVersion: kubevirt.io/v1alpha3\nkind: VirtualMachineInstance\n"
		"metadata: {name: a, labels: null}\n"
		"spec:\n  hostname: null\n  domain:\n    resources: {requests: {memory: 0.5Gi}}\n"
		"    devices:\n" NO_NET);

	(void)state;
	assert_string_equal(json_str(obj, "apiVersion"), "kubevirt.io/v1");
	assert_string_equal(json_str(obj, "metadata.namespace"), "default");
	assert_string_equal(json_str(obj, "spec.domain.memory.guest"), "512Mi");
	assert_null(json_get(obj, "metadata.labels"));
	assert_null(json_get(obj, "spec.hostname"));
}

/* The answer to a get may be applied again: defaults are no errors. */
static void defaulted_is_admitted_again(void **state)
{
	_cleanup_causes_ struct causes causes = {0};
	_cleanup_json_ json_t *obj =
		admitted(VMI_HEAD "  domain:\n    cpu: {cores: 2, sockets: 2}\n"
				  "    memory: {guest: 2Gi}\n    devices:\n" NO_NET
				  "      watchdog: {name: w}\n"
				  "      disks: [{name: a, cdrom: {}}]\n"
				  "  volumes: [{name: a, hostDisk: {path: /a, type: Disk}}]\n");
	_cleanup_json_ json_t *again = json_deep_copy(obj);
	const struct kind *kind;

	(void)state;
	assert_int_equal(admit(again, NULL, &kind, &causes), 0);
	assert_true(json_equal(obj, again));
}

static void more_causes_than_are_kept(void **state)
{
	_cleanup_causes_ struct causes causes = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(causes_to_err(&causes, &err), 0);
	for (int i = 0; i < CAUSES_MAX + 3; i++)
		cause_add(&causes, CAUSE_INVALID, "spec", "number %d", i);
	cause_add(&causes, CAUSE_INVALID, "spec", "number %d", 0); /* said already */
	assert_int_equal(causes.n, CAUSES_MAX);
	assert_int_equal(causes.more, 3);
	assert_int_equal(causes_to_err(&causes, &err), -22);
	assert_memory_equal(err.msg, "53 errors: spec: number 0; spec: number 1; ", 43);
}

/* A value that is quoted in part: what a cut leaves of a letter must not lose the whole cause. */
static void quoted_in_part(void **state)
{
	_cleanup_causes_ struct causes causes = {0};
	_cleanup_json_ json_t *json = NULL;

	(void)state;
	cause_add(&causes, CAUSE_INVALID, "spec.x", "is '%.2s'", "a\xe2\x82\xac");
	json = causes_to_json(&causes);
	assert_string_equal(json_str(json_array_get(json, 0), "message"), "is 'a?'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_in_quotes),
		cmocka_unit_test(scalars_lists_and_maps_mixed_up),
		cmocka_unit_test(numbers_out_of_range),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(keys_and_values_of_any_text),
		cmocka_unit_test(fields_in_the_wrong_place),
		cmocka_unit_test(fields_far_from_their_place),
		cmocka_unit_test(misspelt_fields),
		cmocka_unit_test(all_at_once_with_their_lines),
		cmocka_unit_test(dedicated_cpus),
		cmocka_unit_test(networks),
		cmocka_unit_test(bindings),
		cmocka_unit_test(kernel_boot),
		cmocka_unit_test(sizes_beyond_any_host),
		cmocka_unit_test(hotplug_is_not_there),
		cmocka_unit_test(kinds_and_names),
		cmocka_unit_test(one_image_twice),
		cmocka_unit_test(rules_wait_for_structure),
		cmocka_unit_test(our_annotations),
		cmocka_unit_test(admitted_as_stored),
		cmocka_unit_test(defaulted_is_admitted_again),
		cmocka_unit_test(more_causes_than_are_kept),
		cmocka_unit_test(quoted_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
