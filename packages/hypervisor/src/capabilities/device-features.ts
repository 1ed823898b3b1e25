import { each, field, isOn, type Feature, type Spec } from "./feature.ts";

const video = <Type extends string>(type: Type) =>
  field(`video.${type}`, `Video device ${type}`, "domain.devices.video.type", ({ domain }) => {
    return domain.devices.video?.type === type;
  });

const panic = <Model extends string>(model: Model) =>
  each(
    `panic-devices.${model}`,
    `Panic device ${model}`,
    "domain.devices.panicDevices[].model",
    ({ domain }) => domain.devices.panicDevices,
    (device) => device.model === model,
  );

const diskBus = <Bus extends string>(bus: Bus): Feature<`disks.${Bus}`> => ({
  key: `disks.${bus}`,
  title: `Disk bus ${bus}`,
  field: "domain.devices.disks[].disk.bus",
  find: (spec) =>
    (spec.domain.devices.disks ?? []).flatMap((disk, index) =>
      (["disk", "cdrom", "lun"] as const)
        .filter((target) => disk[target]?.bus === bus)
        .map((target) => `domain.devices.disks[${index}].${target}.bus`),
    ),
});

const disks = ({ domain }: Spec) => domain.devices.disks;
const gpus = ({ domain }: Spec) => domain.devices.gpus;
const hostDevices = ({ domain }: Spec) => domain.devices.hostDevices;

/** Everything that is plugged into the machine, except what concerns volumes and networks. */
export const deviceFeatures = [
  field("watchdog.i6300esb", "Watchdog i6300esb", "domain.devices.watchdog", ({ domain }) => {
    return domain.devices.watchdog?.i6300esb !== undefined;
  }),
  field("watchdog.diag288", "Watchdog diag288", "domain.devices.watchdog", ({ domain }) => {
    return domain.devices.watchdog?.diag288 !== undefined;
  }),
  field("sound", "Sound device", "domain.devices.sound", ({ domain }) => domain.devices.sound !== undefined),
  field("tpm", "Emulated TPM", "domain.devices.tpm", ({ domain }) => isOn(domain.devices.tpm)),
  field("tpm.persistent", "TPM state kept across restarts", "domain.devices.tpm.persistent", ({ domain }) => {
    return isOn(domain.devices.tpm) && domain.devices.tpm?.persistent === true;
  }),
  field("vsock", "VSOCK device", "domain.devices.autoattachVSOCK", ({ domain }) => {
    return domain.devices.autoattachVSOCK === true;
  }),
  field("usb-redirection", "USB devices of the client", "domain.devices.clientPassthrough", ({ domain }) => {
    return domain.devices.clientPassthrough !== undefined;
  }),
  field("downward-metrics", "Downward metrics channel", "domain.devices.downwardMetrics", ({ domain }) => {
    return domain.devices.downwardMetrics !== undefined;
  }),
  field("video", "Choice of the video device", "domain.devices.video", ({ domain }) => {
    return domain.devices.video !== undefined;
  }),
  video("vga"),
  video("cirrus"),
  video("bochs"),
  video("virtio"),
  video("ramfb"),
  each("panic-devices", "Panic devices", "domain.devices.panicDevices[]", ({ domain }) => domain.devices.panicDevices),
  panic("hyperv"),
  panic("isa"),
  panic("pvpanic"),
  diskBus("sata"),
  diskBus("scsi"),
  diskBus("usb"),
  diskBus("virtio"),
  field("virtio-transitional", "Legacy virtio devices", "domain.devices.useVirtioTransitional", ({ domain }) => {
    return domain.devices.useVirtioTransitional === true;
  }),
  each("disks.reservation", "SCSI persistent reservation", "domain.devices.disks[].lun.reservation", disks, (disk) => {
    return disk.lun?.reservation === true;
  }),
  each("disks.pci-address", "Chosen PCI address of a disk", "domain.devices.disks[].disk.pciAddress", disks, (disk) => {
    return Boolean(disk.disk?.pciAddress);
  }),
  each(
    "disks.changed-blocks",
    "Changed block tracking",
    "domain.devices.disks[].changedBlockTracking",
    disks,
    (disk) => disk.changedBlockTracking === true,
  ),
  each("disks.tag", "Tag of a disk", "domain.devices.disks[].tag", disks, ({ tag }) => Boolean(tag)),
  each(
    "inputs.usb",
    "USB input device",
    "domain.devices.inputs[].bus",
    ({ domain }) => domain.devices.inputs,
    (input) => {
      return input.bus === "usb";
    },
  ),
  each("host-devices", "Devices of the node", "domain.devices.hostDevices[]", hostDevices),
  each("host-devices.tag", "Tag of a host device", "domain.devices.hostDevices[].tag", hostDevices, ({ tag }) => {
    return Boolean(tag);
  }),
  each("gpus", "GPUs of the node", "domain.devices.gpus[]", gpus),
  each("gpus.tag", "Tag of a GPU", "domain.devices.gpus[].tag", gpus, ({ tag }) => Boolean(tag)),
  each(
    "gpus.virtual-display",
    "Display of a mediated device",
    "domain.devices.gpus[].virtualGPUOptions",
    gpus,
    (gpu) => gpu.virtualGPUOptions !== undefined,
  ),
  each("filesystems", "Shared folders (virtiofs)", "domain.devices.filesystems[]", ({ domain }) => {
    return domain.devices.filesystems;
  }),
] as const;
