import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Configurator, DraftDomain } from "../contract.ts";
import type { ConverterContext } from "./context.ts";
import { guestProfile } from "./profile.ts";
import { refuse } from "./refuse.ts";

/** How long the boot menu waits when a guest starts paused, so that somebody can reach the console in time. */
const bootMenuTimeoutMs = 10_000;

/** Machine, firmware, kernel boot and what the guest boots from. */
export const os: Configurator = {
  name: "os",
  configure(domain, vmi, context) {
    const profile = guestProfile(vmi, context);
    const machine = vmi.spec.domain.machine?.type;
    domain.os.type = { value: "hvm", arch: profile.machineName, ...(machine ? { machine } : {}) };
    setFirmware(domain, vmi, context);
    setKernelBoot(domain, vmi, context);
    setAcpiTables(domain, vmi, context);
    if (vmi.spec.domain.firmware?.bootloader?.bios?.useSerial === true) domain.os.bios = { useserial: "yes" };
    if (vmi.spec.startStrategy === "Paused") domain.os.bootmenu = { enable: "yes", timeout: bootMenuTimeoutMs };
  },
};

function setFirmware(domain: DraftDomain, vmi: VirtualMachineInstance, { firmware }: ConverterContext): void {
  const efi = vmi.spec.domain.firmware?.bootloader?.efi;
  if (efi === undefined) return;
  const secure = efi.secureBoot !== false;
  const image = secure ? firmware.efiSecureBoot : firmware.efi;
  if (image === undefined || firmware.nvram === undefined) {
    throw refuse(
      "spec.domain.firmware.bootloader.efi",
      `the launcher has no UEFI firmware ${secure ? "with" : "without"} secure boot for this architecture`,
    );
  }
  domain.os.loader = { value: image.code, readonly: "yes", type: "pflash", secure: secure ? "yes" : "no" };
  domain.os.nvram = { value: firmware.nvram, template: image.vars };
}

function setKernelBoot(domain: DraftDomain, vmi: VirtualMachineInstance, { kernelBoot }: ConverterContext): void {
  const given = vmi.spec.domain.firmware?.kernelBoot;
  if (given === undefined) return;
  const field = "spec.domain.firmware.kernelBoot.container";
  if (given.container?.kernelPath) {
    if (kernelBoot?.kernel === undefined)
      throw refuse(`${field}.kernelPath`, `${given.container.kernelPath} is not in the image`);
    domain.os.kernel = kernelBoot.kernel;
  }
  if (given.container?.initrdPath) {
    if (kernelBoot?.initrd === undefined)
      throw refuse(`${field}.initrdPath`, `${given.container.initrdPath} is not in the image`);
    domain.os.initrd = kernelBoot.initrd;
  }
  if (given.kernelArgs) domain.os.cmdline = given.kernelArgs;
}

function setAcpiTables(domain: DraftDomain, vmi: VirtualMachineInstance, { acpiTables }: ConverterContext): void {
  const given = vmi.spec.domain.firmware?.acpi;
  const tables = [];
  for (const [type, reference] of [
    ["slic", given?.slicNameRef],
    ["msdm", given?.msdmNameRef],
  ] as const) {
    if (reference === undefined || reference === "") continue;
    const value = acpiTables?.[type];
    if (value === undefined)
      throw refuse(`spec.domain.firmware.acpi.${type}NameRef`, `volume ${reference} has no table`);
    tables.push({ type, value });
  }
  if (tables.length > 0) domain.os.acpi = { tables };
}
