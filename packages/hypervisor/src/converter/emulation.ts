import type { VirtualMachineInstance } from "@polyvirt/api";
import { architectureProfiles } from "../arch/index.ts";
import type { Architecture } from "../architecture.ts";
import { errors } from "../errors.ts";
import type { ConverterContext } from "./context.ts";
import { guestProfile } from "./profile.ts";

/** Whether the guest's architecture is not the host's: only emulation can run it. */
export function isCrossArchitecture(vmi: VirtualMachineInstance, context: ConverterContext): boolean {
  return guestProfile(vmi, context).name !== context.host.architecture;
}

export function isEmulated(vmi: VirtualMachineInstance, context: ConverterContext): boolean {
  return !context.host.hypervisorDeviceAvailable || isCrossArchitecture(vmi, context);
}

/** Why a guest cannot be emulated, in the words that users see wherever it is found out. */
export const emulationRefusals = {
  crossArchitectureOff: () =>
    "Cross-architecture emulation not enabled. Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration.",
  /** `device` is the hypervisor's, for example `kvm`. */
  emulationOff: (device: string) => `${device} not present or cross-arch requested, but emulation not allowed`,
  emulatorMissing: (path: string) => `Required emulator binary ${path} not found on node`,
} as const;

/** The program that emulates guests of an architecture. */
export function emulatorOf(architecture: Architecture): string {
  return architectureProfiles[architecture].emulator;
}

/** The rules of emulation. `device` is the hypervisor's, for example `kvm`. */
export function checkEmulation(device: string, vmi: VirtualMachineInstance, context: ConverterContext): void {
  if (!isEmulated(vmi, context)) return;
  const crossArchitecture = isCrossArchitecture(vmi, context);
  const fields = { host: context.host.architecture, guest: guestProfile(vmi, context).name };
  if (crossArchitecture && !context.emulation.crossArchitectureAllowed) {
    throw errors.HypervisorEmulationRefused(emulationRefusals.crossArchitectureOff(), { fields });
  }
  if (!context.emulation.allowed) {
    throw errors.HypervisorEmulationRefused(emulationRefusals.emulationOff(device), { fields });
  }
  if (!crossArchitecture) return;
  const { emulator } = guestProfile(vmi, context);
  if (!context.host.hasExecutable(emulator)) {
    throw errors.HypervisorEmulationRefused(emulationRefusals.emulatorMissing(emulator), { fields });
  }
}
