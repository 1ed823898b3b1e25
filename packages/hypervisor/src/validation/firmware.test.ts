import { describe, expect, it } from "vitest";
import { type Case, causeOf, causes, gates } from "../testing/validation.ts";

describe("firmware, features and encryption", () => {
  const efi = { bootloader: { efi: {} } };
  const security = "spec.domain.launchSecurity";
  const sev = gates("WorkloadEncryptionSEV", "WorkloadEncryptionTDX");
  const kernel = "spec.domain.firmware.kernelBoot";
  it.each<Case>([
    {
      domain: { firmware: efi },
      field: "spec.domain",
      message: "spec.domain has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.",
    },
    {
      domain: { firmware: { bootloader: { efi: {}, bios: {} } } },
      field: "spec.domain.firmware.bootloader",
      message: "spec.domain.firmware.bootloader has both EFI and BIOS configured, but they are mutually exclusive.",
    },
    {
      domain: { firmware: { kernelBoot: { kernelArgs: "quiet" } } },
      field: kernel,
      message: "kernel arguments cannot be provided without an external kernel",
    },
    {
      domain: { firmware: { kernelBoot: { container: { image: "", kernelPath: "/k" } } } },
      reason: "FieldValueRequired",
      field: `${kernel}.container`,
      message: `${kernel}.container must be defined with an image`,
    },
    {
      domain: { firmware: { kernelBoot: { container: { image: "k:1" } } } },
      reason: "FieldValueRequired",
      field: `${kernel}.container`,
      message: `${kernel}.container must be defined with at least one of the following: kernelPath, initrdPath`,
    },
    {
      domain: { firmware: { kernelBoot: { container: { image: "k:1", kernelPath: "/boot/../../etc/shadow" } } } },
      field: `${kernel}.container.kernelPath`,
      message: `${kernel}.container.kernelPath must not contain '..'`,
    },
    {
      domain: { firmware: { kernelBoot: { container: { image: "k:1", initrdPath: "../initrd" } } } },
      field: `${kernel}.container.initrdPath`,
      message: `${kernel}.container.initrdPath must not contain '..'`,
    },
    {
      domain: { features: { hyperv: { synic: { enabled: true }, vpindex: { enabled: false } } } },
      field: "spec.domain.features.hyperv.synic",
      message:
        "'spec.domain.features.hyperv.synic' requires 'spec.domain.features.hyperv.vpindex', which was disabled.",
    },
    {
      domain: { launchSecurity: { sev: {}, tdx: {} } },
      reason: "FieldValueForbidden",
      field: security,
      message: "One and only one launchSecurity type can be set",
    },
    {
      domain: { launchSecurity: { sev: {} } },
      field: `${security}.sev`,
      message: "WorkloadEncryptionSEV feature gate is not enabled in kubevirt-config",
    },
    {
      domain: { launchSecurity: { sev: {} } },
      configuration: sev,
      field: security,
      message: "SEV requires OVMF (UEFI)",
    },
    {
      domain: { launchSecurity: { sev: {} }, firmware: efi },
      configuration: sev,
      field: security,
      message: "SEV does not work along with SecureBoot",
    },
    {
      domain: { launchSecurity: { tdx: {} }, features: { smm: { enabled: true } } },
      configuration: sev,
      field: security,
      message: "TDX does not work along with SMM",
    },
    {
      domain: { launchSecurity: { sev: { attestation: {} } } },
      configuration: sev,
      field: security,
      message: "SEV attestation requires VMI StartStrategy 'Paused'",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });
});
