/**
 * One sample value for every machine field of a VMI: what `coverage.test.ts` sets on a base VMI to see whether the machine
 * changes, or whether the field is refused. A new field of the API needs a row here.
 */
import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { Architecture } from "../architecture.ts";

export interface FieldSample {
  /** Path below `spec`, with indexes. */
  readonly path: string;
  readonly value: unknown;
  /** Another value where the first means nothing, or is what such a guest has anyway. */
  readonly on?: Readonly<Partial<Record<Architecture, unknown>>>;
  /** Other fields that must be there for the value to mean something. */
  readonly given?: Fields;
  readonly givenOn?: Readonly<Partial<Record<Architecture, Fields>>>;
  /** What the machine is compared with, where the given fields alone make no valid VMI. */
  readonly versus?: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

const disk = "domain.devices.disks[0]";
const nic = "domain.devices.interfaces[0]";
const hyperv = "domain.features.hyperv";
const pvc = { name: "root", persistentVolumeClaim: { claimName: "root" } };
const otherCpuFeatures = { arm64: "sve", s390x: "vx" };
const gpu = { "domain.devices.gpus[0]": { name: "g", deviceName: "vendor.com/g" } };
const hostDevice = { "domain.devices.hostDevices[0]": { name: "h", deviceName: "vendor.com/h" } };
const lun = {
  volumes: [{ name: "root", persistentVolumeClaim: { claimName: "block-root" } }],
  [`${disk}.disk`]: undefined,
  [`${disk}.lun`]: {},
};
const licence = { volumes: [pvc, { name: "licence", secret: { secretName: "licence" } }] };
const efi = { "domain.firmware.bootloader.efi.secureBoot": false };

/** Every sample starts from this. */
export const baseSpec: VirtualMachineInstanceSpec = {
  domain: {
    cpu: { sockets: 1, cores: 1, threads: 1 },
    memory: { guest: "1Gi" },
    devices: {
      disks: [{ name: "root", disk: { bus: "virtio" } }],
      interfaces: [{ name: "default", masquerade: {} }],
    },
  },
  networks: [{ name: "default", pod: {} }],
  volumes: [pvc],
};

const state = (path: string, given: Fields = {}): FieldSample => ({
  path,
  value: true,
  given,
});

const hypervStates = [
  "evmcs",
  "frequencies",
  "ipi",
  "reenlightenment",
  "relaxed",
  "reset",
  "runtime",
  "synic",
  "vapic",
  "vpindex",
];

export const machineSamples: readonly FieldSample[] = [
  { path: "startStrategy", value: "Paused" },
  ...["asset", "manufacturer", "serial", "sku", "version"].map((name) => ({
    path: `domain.chassis.${name}`,
    value: "X-1",
  })),
  ...["hpet", "hyperv", "kvm", "pit", "rtc"].map((name) => ({
    path: `domain.clock.timer.${name}.present`,
    value: false,
  })),
  { path: "domain.clock.timer.hpet.tickPolicy", value: "delay" },
  { path: "domain.clock.timer.pit.tickPolicy", value: "delay" },
  { path: "domain.clock.timer.rtc.tickPolicy", value: "catchup" },
  { path: "domain.clock.timer.rtc.track", value: "wall" },
  { path: "domain.clock.timezone", value: "Europe/Berlin" },
  { path: "domain.clock.utc.offsetSeconds", value: 3600 },
  { path: "domain.cpu.cores", value: 2 },
  { path: "domain.cpu.sockets", value: 2 },
  { path: "domain.cpu.threads", value: 2 },
  { path: "domain.cpu.maxSockets", value: 7 },
  { path: "domain.cpu.model", value: "Haswell-noTSX", on: { arm64: "cortex-a57", s390x: "z13" } },
  state("domain.cpu.dedicatedCpuPlacement"),
  state("domain.cpu.isolateEmulatorThread", { "domain.cpu.dedicatedCpuPlacement": true }),
  { path: "domain.cpu.features[0].name", value: "pdpe1gb", on: otherCpuFeatures },
  {
    path: "domain.cpu.features[0].policy",
    value: "disable",
    given: { "domain.cpu.features[0].name": "pdpe1gb" },
    givenOn: {
      arm64: { "domain.cpu.features[0].name": otherCpuFeatures.arm64 },
      s390x: { "domain.cpu.features[0].name": otherCpuFeatures.s390x },
    },
  },
  {
    path: "domain.cpu.numa.guestMappingPassthrough",
    value: {},
    given: { "domain.cpu.dedicatedCpuPlacement": true, "domain.memory.hugepages.pageSize": "2Mi" },
  },
  {
    path: "domain.cpu.realtime.mask",
    value: "0",
    given: { "domain.cpu.dedicatedCpuPlacement": true },
  },
  { path: "domain.devices.autoattachGraphicsDevice", value: false },
  state("domain.devices.autoattachInputDevice"),
  { path: "domain.devices.autoattachMemBalloon", value: false },
  {
    path: "domain.devices.autoattachPodInterface",
    value: false,
    given: { networks: [], "domain.devices.interfaces": [] },
  },
  { path: "domain.devices.autoattachSerialConsole", value: false },
  state("domain.devices.autoattachVSOCK"),
  state("domain.devices.blockMultiQueue", { "domain.cpu.cores": 2 }),
  { path: "domain.devices.clientPassthrough", value: {} },
  state("domain.devices.disableHotplug"),
  { path: `${disk}.name`, value: "other", given: { volumes: [{ ...pvc, name: "other" }] }, versus: {} },
  ...(["logical", "physical"] as const).map((size) => ({
    path: `${disk}.blockSize.custom.${size}`,
    value: 4096,
    given: { [`${disk}.blockSize.custom`]: { logical: 512, physical: 4096 } },
    versus: { [`${disk}.blockSize.custom`]: { logical: 512, physical: size === "logical" ? 4096 : 512 } },
  })),
  {
    path: `${disk}.blockSize.custom.discardGranularity`,
    value: 4096,
    given: { [`${disk}.blockSize.custom.logical`]: 512, [`${disk}.blockSize.custom.physical`]: 512 },
  },
  state(`${disk}.blockSize.matchVolume.enabled`),
  { path: `${disk}.bootOrder`, value: 1 },
  { path: `${disk}.cache`, value: "writethrough" },
  { path: `${disk}.cdrom.bus`, value: "scsi", given: { [`${disk}.disk`]: undefined } },
  {
    path: `${disk}.cdrom.readonly`,
    value: false,
    given: { [`${disk}.disk`]: undefined, [`${disk}.cdrom.bus`]: "sata" },
  },
  { path: `${disk}.cdrom.tray`, value: "open", given: { [`${disk}.disk`]: undefined, [`${disk}.cdrom.bus`]: "sata" } },
  state(`${disk}.changedBlockTracking`),
  state(`${disk}.dedicatedIOThread`),
  { path: `${disk}.disk.bus`, value: "scsi" },
  { path: `${disk}.disk.pciAddress`, value: "0000:05:00.0" },
  state(`${disk}.disk.readonly`),
  { path: `${disk}.errorPolicy`, value: "report" },
  { path: `${disk}.io`, value: "threads" },
  { path: `${disk}.lun.bus`, value: "virtio", given: lun },
  state(`${disk}.lun.readonly`, lun),
  state(`${disk}.lun.reservation`, { ...lun, [`${disk}.lun.bus`]: "scsi" }),
  { path: `${disk}.serial`, value: "SER-1" },
  state(`${disk}.shareable`),
  { path: `${disk}.tag`, value: "data" },
  { path: "domain.devices.downwardMetrics", value: {} },
  {
    path: "domain.devices.filesystems[0].name",
    value: "shared",
    given: { volumes: [pvc, { ...pvc, name: "shared" }], "domain.devices.filesystems[0].virtiofs": {} },
    versus: { volumes: [pvc, { ...pvc, name: "shared" }] },
  },
  {
    path: "domain.devices.filesystems[0].virtiofs",
    value: undefined,
    given: { volumes: [pvc, { ...pvc, name: "shared" }], "domain.devices.filesystems[0].name": "shared" },
  },
  { path: "domain.devices.gpus[0].name", value: "other", given: gpu },
  {
    path: "domain.devices.gpus[0].deviceName",
    value: "vendor.com/g",
    given: { "domain.devices.gpus[0].name": "g" },
    versus: {},
  },
  { path: "domain.devices.hostDevices[0].name", value: "other", given: hostDevice },
  {
    path: "domain.devices.hostDevices[0].deviceName",
    value: "vendor.com/h",
    given: { "domain.devices.hostDevices[0].name": "h" },
    versus: {},
  },
  ...["claimName", "requestName", "tag"].flatMap((name) => [
    { path: `domain.devices.gpus[0].${name}`, value: "x", given: gpu },
    { path: `domain.devices.hostDevices[0].${name}`, value: "x", given: hostDevice },
  ]),
  {
    path: "domain.devices.gpus[0].virtualGPUOptions.display.enabled",
    value: false,
    given: gpu,
  },
  {
    path: "domain.devices.gpus[0].virtualGPUOptions.display.ramFB.enabled",
    value: false,
    given: gpu,
  },
  {
    path: "domain.devices.inputs[0].name",
    value: "tablet",
    given: { "domain.devices.inputs[0].type": "tablet" },
    versus: {},
  },
  {
    path: "domain.devices.inputs[0].bus",
    value: "virtio",
    on: { s390x: "usb" },
    given: { "domain.devices.inputs[0].name": "i" },
  },
  { path: "domain.devices.inputs[0].type", value: "mouse", given: { "domain.devices.inputs[0].name": "i" } },
  { path: `${nic}.acpiIndex`, value: 7 },
  { path: `${nic}.binding.name`, value: "plugin" },
  { path: `${nic}.bootOrder`, value: 1 },
  { path: `${nic}.macAddress`, value: "de:ad:00:00:be:af" },
  { path: `${nic}.macvtap`, value: {} },
  { path: `${nic}.model`, value: "e1000" },
  { path: `${nic}.name`, value: "red", given: { networks: [{ name: "red", pod: {} }] }, versus: {} },
  { path: `${nic}.passt`, value: {} },
  { path: `${nic}.passtBinding`, value: {}, given: { [`${nic}.masquerade`]: undefined }, versus: {} },
  { path: `${nic}.pciAddress`, value: "0000:06:00.0" },
  { path: `${nic}.slirp`, value: {} },
  { path: `${nic}.sriov`, value: {}, given: { [`${nic}.masquerade`]: undefined }, versus: {} },
  { path: `${nic}.state`, value: "down" },
  { path: `${nic}.tag`, value: "net" },
  { path: "domain.devices.logSerialConsole", value: false },
  state("domain.devices.networkInterfaceMultiqueue", { "domain.cpu.cores": 2 }),
  { path: "domain.devices.panicDevices[0].model", value: "isa" },
  { path: "domain.devices.rng", value: {} },
  { path: "domain.devices.sound.model", value: "ac97", given: { "domain.devices.sound.name": "s" } },
  { path: "domain.devices.sound.name", value: "s" },
  state("domain.devices.tpm.enabled"),
  state("domain.devices.tpm.persistent"),
  state("domain.devices.useVirtioTransitional"),
  { path: "domain.devices.video.type", value: "virtio", on: { arm64: "ramfb", s390x: "vga" } },
  { path: "domain.devices.watchdog.name", value: "dog" },
  {
    path: "domain.devices.watchdog.i6300esb.action",
    value: "poweroff",
    given: { "domain.devices.watchdog.name": "dog" },
  },
  {
    path: "domain.devices.watchdog.diag288.action",
    value: "poweroff",
    given: { "domain.devices.watchdog.name": "dog" },
  },
  { path: "domain.features.acpi.enabled", value: false, on: { s390x: true } },
  state("domain.features.apic.enabled"),
  state("domain.features.apic.endOfInterrupt"),
  ...hypervStates.map((name) => state(`${hyperv}.${name}.enabled`)),
  state(`${hyperv}.spinlocks.enabled`),
  { path: `${hyperv}.spinlocks.spinlocks`, value: 8191 },
  state(`${hyperv}.synictimer.enabled`),
  state(`${hyperv}.synictimer.direct.enabled`),
  state(`${hyperv}.tlbflush.enabled`),
  state(`${hyperv}.tlbflush.direct.enabled`),
  state(`${hyperv}.tlbflush.extended.enabled`),
  state(`${hyperv}.vendorid.enabled`),
  { path: `${hyperv}.vendorid.vendorid`, value: "me", versus: {} },
  state("domain.features.hypervPassthrough.enabled"),
  state("domain.features.kvm.hidden"),
  state("domain.features.pvspinlock.enabled"),
  state("domain.features.smm.enabled"),
  { path: "domain.firmware.acpi.msdmNameRef", value: "licence", given: licence },
  { path: "domain.firmware.acpi.slicNameRef", value: "licence", given: licence },
  state("domain.firmware.bootloader.bios.useSerial"),
  state("domain.firmware.bootloader.efi.persistent", { "domain.firmware.bootloader.efi.secureBoot": false }),
  state("domain.firmware.bootloader.efi.secureBoot", { "domain.features.smm.enabled": true }),
  {
    path: "domain.firmware.kernelBoot.container.initrdPath",
    value: "/boot/initrd",
    given: { "domain.firmware.kernelBoot.container": { image: "k:1", kernelPath: "/k" } },
  },
  {
    path: "domain.firmware.kernelBoot.container.kernelPath",
    value: "/boot/vmlinuz",
    given: { "domain.firmware.kernelBoot.container": { image: "k:1", initrdPath: "/i" } },
  },
  {
    path: "domain.firmware.kernelBoot.kernelArgs",
    value: "quiet",
    given: { "domain.firmware.kernelBoot.container": { image: "k:1", kernelPath: "/k" } },
  },
  { path: "domain.firmware.serial", value: "SER-1" },
  { path: "domain.firmware.uuid", value: "11111111-2222-3333-4444-555555555555" },
  {
    path: "domain.ioThreads.supplementalPoolThreadCount",
    value: 3,
    given: { "domain.ioThreadsPolicy": "supplementalPool" },
    versus: { "domain.ioThreadsPolicy": "supplementalPool", "domain.ioThreads.supplementalPoolThreadCount": 2 },
  },
  { path: "domain.ioThreadsPolicy", value: "shared" },
  { path: "domain.launchSecurity.sev.attestation", value: {}, given: efi },
  { path: "domain.launchSecurity.sev.dhCert", value: "QUJD", given: efi },
  state("domain.launchSecurity.sev.policy.encryptedState", efi),
  { path: "domain.launchSecurity.sev.session", value: "QUJD", given: efi },
  { path: "domain.launchSecurity.snp", value: {}, given: efi },
  { path: "domain.launchSecurity.tdx", value: {}, given: efi },
  {
    path: "domain.machine.type",
    value: "pc-q35-7.1",
    on: { arm64: "virt-7.1", s390x: "s390-ccw-virtio-7.1" },
  },
  { path: "domain.memory.guest", value: "2Gi" },
  { path: "domain.memory.hugepages.pageSize", value: "2Mi" },
  { path: "domain.memory.maxGuest", value: "2Gi" },
  { path: "domain.rebootPolicy", value: "Terminate" },
];

/** Fields that another part of the system acts upon: they concern the pod, not the machine. */
export const servedElsewhere: Readonly<Record<string, string>> = {
  architecture: "the platform: every other field is tried on each",
  hypervisor: "the platform; admission refuses any but the cluster's",
  affinity: "launcher pod",
  dnsConfig: "launcher pod",
  dnsPolicy: "launcher pod",
  evictionStrategy: "migration",
  hostname: "launcher pod",
  livenessProbe: "launcher pod",
  nodeSelector: "launcher pod",
  priorityClassName: "launcher pod",
  readinessProbe: "launcher pod",
  schedulerName: "launcher pod",
  serviceAccountName: "launcher pod",
  subdomain: "launcher pod",
  terminationGracePeriodSeconds: "launcher pod",
  tolerations: "launcher pod",
  topologySpreadConstraints: "launcher pod",
  accessCredentials: "launcher pod and launcher: by the guest's agent or cloud-init",
  resourceClaims: "refused as a whole: findUnserved",
  utilityVolumes: "refused as a whole: findUnserved",
  networks: "pod network",
  volumes: "launcher pod and launcher: what each source becomes",
  "domain.resources": "launcher pod",
  "domain.memory.reservedOverhead.addedOverhead": "resources: memory overhead",
  "domain.memory.reservedOverhead.memLock": "tuner: locked memory",
  "domain.firmware.kernelBoot.container.image": "launcher pod",
  "domain.firmware.kernelBoot.container.imagePullPolicy": "launcher pod",
  "domain.firmware.kernelBoot.container.imagePullSecret": "launcher pod",
  "domain.devices.interfaces[].bridge": "pod network",
  "domain.devices.interfaces[].dhcpOptions": "launcher: answers to DHCP",
  "domain.devices.interfaces[].masquerade": "pod network",
  "domain.devices.interfaces[].ports": "pod network",
  "domain.devices.interfaces[].portRanges": "pod network",
};
