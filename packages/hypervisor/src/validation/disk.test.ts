import { describe, expect, it } from "vitest";
import { type Case, causes, causeOf, disks, firstDisk } from "../testing/validation.ts";

describe("disks and volumes", () => {
  const root = { name: "root", containerDisk: { image: "demo:1" } };
  const noCloud = "spec.volumes[0].cloudInitNoCloud";
  it.each<Case>([
    { spec: { volumes: [root] }, field: "spec.volumes[0].name", message: "spec.volumes[0].name 'root' not found." },
    { domain: disks({ name: "root" }), field: `${firstDisk}.name`, message: `${firstDisk}.name 'root' not found.` },
    {
      domain: disks({ name: "root", lun: { bus: "scsi" } }),
      spec: { volumes: [root] },
      field: `${firstDisk}.lun`,
      message: `${firstDisk}.lun can only be mapped to a DataVolume or PersistentVolumeClaim volume.`,
    },
    {
      domain: disks({ name: "a", bootOrder: 1 }, { name: "b", bootOrder: 1 }),
      field: "spec.domain.devices.disks[1].bootOrder",
      message: "Boot order for spec.domain.devices.disks[1].bootOrder already set for a different device.",
    },
    {
      domain: disks({ name: "a", bootOrder: 0 }),
      field: `${firstDisk}.bootOrder`,
      message: `${firstDisk} must have a boot order > 0, if supplied`,
    },
    {
      domain: disks({ name: "a" }, { name: "a" }),
      field: "spec.domain.devices.disks[1].name",
      message: `spec.domain.devices.disks[1] and ${firstDisk} must not have the same Name.`,
    },
    {
      domain: disks({ name: "a", disk: {}, cdrom: {} }),
      field: firstDisk,
      message: `${firstDisk} can only have a single target type defined`,
    },
    {
      domain: disks({ name: "a", disk: { bus: "ide" } }),
      field: `${firstDisk}.disk.bus`,
      message: "IDE bus is not supported",
    },
    {
      domain: disks({ name: "a", cdrom: { bus: "virtio" } }),
      field: `${firstDisk}.cdrom.bus`,
      message: "Bus type virtio is invalid for CD-ROM device",
    },
    {
      domain: disks({ name: "a", disk: { bus: "sata", readonly: true } }),
      field: `${firstDisk}.disk.bus`,
      message: "sata hard-disks do not support read-only.",
    },
    {
      domain: disks({ name: "a", disk: { bus: "fdc" } }),
      field: `${firstDisk}.disk.bus`,
      message: `${firstDisk} is set with an unrecognized bus fdc, must be one of: [virtio scsi sata usb]`,
    },
    {
      domain: disks({ name: "a", disk: { bus: "sata" }, dedicatedIOThread: true }),
      reason: "FieldValueNotSupported",
      field: `${firstDisk}.dedicatedIOThread`,
      message: "IOThreads are not supported for disks on a sata bus",
    },
    {
      domain: disks({ name: "a", serial: "no spaces" }),
      field: `${firstDisk}.serial`,
      message: `${firstDisk}.serial must be made up of the following characters [A-Za-z0-9_.+-], if specified`,
    },
    {
      domain: disks({ name: "a", serial: "1".repeat(257) }),
      field: `${firstDisk}.serial`,
      message: `${firstDisk}.serial must be less than or equal to 256 in length, if specified`,
    },
    {
      domain: disks({ name: "a", cache: "unspeakable" }),
      field: `${firstDisk}.cache`,
      message: `${firstDisk}.cache has invalid value unspeakable`,
    },
    {
      domain: disks({ name: "a", io: "uring" }),
      field: `${firstDisk}.io`,
      message: `Disk IO mode for ${firstDisk}.io is not supported. Supported modes are: native, threads.`,
    },
    {
      domain: disks({ name: "a", errorPolicy: "panic" }),
      field: `${firstDisk}.errorPolicy`,
      message: `${firstDisk}.errorPolicy has invalid value "panic"`,
    },
    {
      domain: disks({ name: "a", blockSize: { custom: { logical: 256, physical: 512 } } }),
      field: `${firstDisk}.blockSize.custom.logical`,
      message: "Provided size of 256 is less than the supported minimum size of 512",
    },
    {
      domain: disks({ name: "a", blockSize: { custom: { logical: 512, physical: 4_194_304 } } }),
      field: `${firstDisk}.blockSize.custom.physical`,
      message: "Provided size of 4194304 is greater than the supported maximum size of 2097152",
    },
    {
      domain: disks({ name: "a", blockSize: { custom: { logical: 1000, physical: 4096 } } }),
      field: `${firstDisk}.blockSize.custom.logical`,
      message: "Provided size of 1000 is not a power of 2",
    },
    {
      domain: disks({ name: "a", blockSize: { custom: { logical: 512, physical: 512 }, matchVolume: {} } }),
      field: `${firstDisk}.blockSize`,
      message: "Block size matching can't be enabled together with a custom value",
    },
    {
      spec: { volumes: [root, root] },
      field: "spec.volumes[1].name",
      message: "spec.volumes[1] and spec.volumes[0] must not have the same Name.",
    },
    {
      spec: { volumes: [{ name: "a" }] },
      field: "spec.volumes[0]",
      message: "spec.volumes[0] must have exactly one source type set",
    },
    {
      spec: { volumes: [{ name: "a", cloudInitNoCloud: { userData: "a", userDataBase64: "YQ==" } }] },
      field: noCloud,
      message: `${noCloud} must have only one userdatasource set.`,
    },
    {
      spec: { volumes: [{ name: "a", cloudInitNoCloud: { userData: "x".repeat(2049) } }] },
      field: noCloud,
      message: `${noCloud} userdata exceeds 2048 byte limit. Should use UserDataSecretRef for larger data.`,
    },
    {
      spec: { volumes: [{ name: "a", cloudInitNoCloud: {} }] },
      field: noCloud,
      message: `${noCloud} must have at least one userdatasource or one networkdatasource set.`,
    },
    {
      spec: { volumes: [{ name: "a", hostDisk: { path: "/a", type: "Disk" } }] },
      field: "spec.volumes[0]",
      message: "HostDisk feature gate is not enabled",
    },
    {
      spec: { volumes: [{ name: "a", hostDisk: { path: "", type: "Disk" } }] },
      reason: "FieldValueNotFound",
      field: "spec.volumes[0].hostDisk.path",
      message: "spec.volumes[0].hostDisk.path is required for hostDisk volume",
    },
    {
      spec: { volumes: [{ name: "a", dataVolume: { name: "" } }] },
      reason: "FieldValueRequired",
      field: "spec.volumes[0].name",
      message: "DataVolume 'name' must be set",
    },
    {
      domain: { ioThreadsPolicy: "many" },
      field: "spec.domain.ioThreadsPolicy",
      message: "Invalid IOThreadsPolicy (many)",
    },
    {
      domain: { ioThreadsPolicy: "supplementalPool" },
      field: "spec.domain.ioThreads.supplementalPoolThreadCount",
      message: "the number of iothreads needs to be set and positive for the dedicated policy",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });

  it("keeps image paths inside the image", () => {
    const path = (given: string) =>
      causes({ spec: { volumes: [{ name: "a", containerDisk: { image: "d:1", path: given } }] } });
    expect(path("/disk/../../etc/passwd")[0]?.field).toBe("spec.volumes[0].containerDisk.path");
    expect(path("disk/a.img")[0]?.field).toBe("spec.volumes[0].containerDisk.path");
  });
});
