import type { Report, Subject, ValidationRule } from "./rule.ts";

function checkBootloader({ spec, field, architecture }: Subject, report: Report): void {
  const bootloader = spec.domain.firmware?.bootloader;
  const bootloaderField = `${field}.domain.firmware.bootloader`;
  if (bootloader?.efi !== undefined && bootloader.bios !== undefined) {
    report.invalid(
      bootloaderField,
      `${bootloaderField} has both EFI and BIOS configured, but they are mutually exclusive.`,
    );
  }
  const secure = bootloader?.efi !== undefined && bootloader.efi.secureBoot !== false;
  const smm = spec.domain.features?.smm !== undefined && spec.domain.features.smm.enabled !== false;
  if (secure && !smm && architecture === "amd64") {
    report.invalid(
      `${field}.domain`,
      `${field}.domain has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.`,
    );
  }
}

function checkKernelBoot({ spec, field }: Subject, report: Report): void {
  const kernelBoot = spec.domain.firmware?.kernelBoot;
  if (kernelBoot === undefined) return;
  const { container, kernelArgs } = kernelBoot;
  const at = `${field}.domain.firmware.kernelBoot`;
  if (container === undefined) {
    if (kernelArgs) report.invalid(at, "kernel arguments cannot be provided without an external kernel");
    return;
  }
  if (!container.image) report.required(`${at}.container`, `${at}.container must be defined with an image`);
  if (!container.kernelPath && !container.initrdPath) {
    report.required(
      `${at}.container`,
      `${at}.container must be defined with at least one of the following: kernelPath, initrdPath`,
    );
  }
  if (kernelArgs && !container.kernelPath)
    report.invalid(at, "kernel arguments cannot be provided without an external kernel");
  for (const name of ["kernelPath", "initrdPath"] as const) {
    if (container[name]?.split("/").includes("..") === true) {
      report.invalid(`${at}.container.${name}`, `${at}.container.${name} must not contain '..'`);
    }
  }
}

function checkIdentity({ spec, field }: Subject, report: Report): void {
  const { uuid, serial } = spec.domain.firmware ?? {};
  const at = `${field}.domain.firmware`;
  if (uuid && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid)) {
    report.invalid(`${at}.uuid`, `${at}.uuid '${uuid}' is not a UUID`);
  }
  if (serial && !/^[A-Za-z0-9_.+-]{1,256}$/.test(serial)) {
    report.invalid(
      `${at}.serial`,
      `${at}.serial must be made up of at most 256 of the following characters [A-Za-z0-9_.+-]`,
    );
  }
}

/** License tables come from a volume of the VMI. */
function checkAcpiTables({ spec, field }: Subject, report: Report): void {
  for (const name of ["slicNameRef", "msdmNameRef"] as const) {
    const reference = spec.domain.firmware?.acpi?.[name];
    if (!reference) continue;
    const at = `${field}.domain.firmware.acpi.${name}`;
    const volume = spec.volumes?.find((candidate) => candidate.name === reference);
    if (volume === undefined) report.invalid(at, `${at} '${reference}' does not have a matching Volume.`);
    else if (volume.secret === undefined) report.invalid(at, `${at} '${reference}' must be a Volume of type Secret.`);
  }
}

export const firmwareRules: readonly ValidationRule[] = [
  { name: "bootloader", check: checkBootloader },
  { name: "kernel-boot", check: checkKernelBoot },
  { name: "firmware-identity", check: checkIdentity },
  { name: "acpi-tables", check: checkAcpiTables },
];
