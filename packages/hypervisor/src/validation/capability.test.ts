import { describe, expect, it } from "vitest";
import { type Case, causeOf, causes, disks, type Domain, firstDisk, gates } from "../testing/validation.ts";

describe("architectures", () => {
  const reason = "FieldValueNotSupported";
  const watchdog = "spec.domain.devices.watchdog";
  const video = (type: string): Domain => ({ devices: { video: { type } } });
  it.each<Case>([
    {
      domain: { devices: { watchdog: { name: "w", diag288: {} } } },
      reason,
      field: watchdog,
      message: "amd64 only supports I6300ESB watchdog device",
    },
    {
      domain: video("qxl"),
      configuration: gates("VideoConfig"),
      reason,
      field: "spec.domain.devices.video.type",
      message: "video model 'qxl' is not supported on amd64 architecture",
    },
    {
      domain: { firmware: { bootloader: { bios: {} } } },
      spec: { architecture: "arm64" },
      reason,
      field: "spec.domain.firmware.bootloader.bios",
      message: "Arm64 does not support bios boot, please change to uefi boot",
    },
    {
      domain: { cpu: { model: "cortex-a57" } },
      spec: { architecture: "arm64" },
      reason,
      field: "spec.domain.cpu.model",
      message: "currently, host-passthrough is the only model supported on Arm64",
    },
    {
      domain: disks({ name: "a", disk: { bus: "sata" } }),
      spec: { architecture: "arm64" },
      reason,
      field: `${firstDisk}.disk.bus`,
      message: "Arm64 not support this disk bus type, please use virtio or scsi",
    },
    {
      domain: { devices: { watchdog: { name: "w", i6300esb: {} } } },
      spec: { architecture: "arm64" },
      reason,
      field: watchdog,
      message: "Arm64 not support Watchdog device",
    },
    {
      domain: { devices: { sound: { name: "s" } } },
      spec: { architecture: "arm64" },
      reason,
      field: "spec.domain.devices.sound",
      message: "Arm64 not support sound device",
    },
    {
      domain: video("vga"),
      spec: { architecture: "arm64" },
      reason,
      field: "spec.domain.devices.video.type",
      message: "video model 'vga' is not supported on arm64 architecture",
    },
    {
      domain: { devices: { watchdog: { name: "w", i6300esb: {} } } },
      spec: { architecture: "s390x" },
      reason,
      field: watchdog,
      message: "s390x only supports Diag288 watchdog device",
    },
    {
      domain: video("ramfb"),
      spec: { architecture: "s390x" },
      reason,
      field: "spec.domain.devices.video.type",
      message: "video model 'ramfb' is not supported on s390x architecture",
    },
    {
      domain: { devices: { panicDevices: [{ model: "isa" }] } },
      spec: { architecture: "s390x" },
      reason,
      field: "spec.domain.devices.panicDevices[0]",
      message: "custom panic devices are not supported on s390x architecture",
    },
    {
      domain: { launchSecurity: { sev: {} } },
      spec: { architecture: "s390x" },
      reason,
      field: "spec.domain.launchSecurity.sev",
      message: "No launchSecurity support for architecture: s390x",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });
});
