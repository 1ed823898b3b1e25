import * as fs from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Architecture, EfiImage, FirmwareFiles } from "@polyvirt/hypervisor";

/** Where distributions put UEFI firmware: the first pair that is there is taken. */
interface FirmwareTable {
  readonly efi: readonly EfiImage[];
  readonly efiSecureBoot: readonly EfiImage[];
}

const ovmf = "/usr/share/OVMF";
const aavmf = "/usr/share/AAVMF";

const firmwareTables: Readonly<Record<Architecture, FirmwareTable>> = {
  amd64: {
    efi: [
      { code: `${ovmf}/OVMF_CODE_4M.fd`, vars: `${ovmf}/OVMF_VARS_4M.fd` },
      { code: `${ovmf}/OVMF_CODE.fd`, vars: `${ovmf}/OVMF_VARS.fd` },
    ],
    // The variables hold the keys that signed boot loaders are checked with.
    efiSecureBoot: [
      { code: `${ovmf}/OVMF_CODE_4M.secboot.fd`, vars: `${ovmf}/OVMF_VARS_4M.ms.fd` },
      { code: `${ovmf}/OVMF_CODE.secboot.fd`, vars: `${ovmf}/OVMF_VARS.secboot.fd` },
    ],
  },
  arm64: { efi: [{ code: `${aavmf}/AAVMF_CODE.fd`, vars: `${aavmf}/AAVMF_VARS.fd` }], efiSecureBoot: [] },
  // Started by the mainframe's initial program load, which is part of the machine.
  s390x: { efi: [], efiSecureBoot: [] },
};

interface FirmwarePlaces {
  /** This guest's own folder, which goes with the pod. */
  readonly guestDirectory: string;
  /** The volume that outlives the pod. */
  readonly persistentState: string;
  /** Before all paths of the table; tests have their own. */
  readonly root?: string;
}

/**
 * Finds UEFI firmware and gives the guest a copy of its variables to write to. A guest that keeps its variables finds those
 * of its last run.
 */
export async function prepareFirmware(
  vmi: VirtualMachineInstance,
  architecture: Architecture,
  { guestDirectory, persistentState, root = "" }: FirmwarePlaces,
): Promise<FirmwareFiles> {
  const efi = vmi.spec.domain.firmware?.bootloader?.efi;
  if (efi === undefined) return {};
  const table = firmwareTables[architecture];
  const found = { efi: findImage(table.efi, root), efiSecureBoot: findImage(table.efiSecureBoot, root) };
  const image = efi.secureBoot === false ? found.efi : found.efiSecureBoot;
  const nvram =
    efi.persistent === true ? `${persistentState}/nvram/${vmi.metadata.name}_VARS.fd` : `${guestDirectory}/nvram.fd`;
  // Without firmware the converter refuses the VMI, with the field.
  if (image !== undefined) await copyOnce(image.vars, nvram);
  return {
    ...(found.efi === undefined ? {} : { efi: found.efi }),
    ...(found.efiSecureBoot === undefined ? {} : { efiSecureBoot: found.efiSecureBoot }),
    nvram,
  };
}

function findImage(candidates: readonly EfiImage[], root: string): EfiImage | undefined {
  return candidates
    .map(({ code, vars }) => ({ code: `${root}${code}`, vars: `${root}${vars}` }))
    .find(({ code, vars }) => fs.existsSync(code) && fs.existsSync(vars));
}

async function copyOnce(template: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  if (fs.existsSync(target)) return;
  // Renamed when complete: half a copy would be taken for the guest's variables at the next start.
  await copyFile(template, `${target}.new`);
  fs.chmodSync(`${target}.new`, 0o600);
  fs.renameSync(`${target}.new`, target);
}
