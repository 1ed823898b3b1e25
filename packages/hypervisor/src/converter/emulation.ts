import type { VirtualMachineInstance } from "@polyvirt/api";
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

/** The rules of emulation, in the words that users see in the VMI's events. `device` is the hypervisor's, for example `kvm`. */
export function checkEmulation(device: string, vmi: VirtualMachineInstance, context: ConverterContext): void {
  if (!isEmulated(vmi, context)) return;
  const crossArchitecture = isCrossArchitecture(vmi, context);
  const fields = { host: context.host.architecture, guest: guestProfile(vmi, context).name };
  if (crossArchitecture && !context.emulation.crossArchitectureAllowed) {
    throw errors.HypervisorEmulationRefused(
      "Cross-architecture emulation not enabled. Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration.",
      { fields },
    );
  }
  if (!context.emulation.allowed) {
    throw errors.HypervisorEmulationRefused(
      `${device} not present or cross-arch requested, but emulation not allowed`,
      { fields },
    );
  }
  if (!crossArchitecture) return;
  const { emulator } = guestProfile(vmi, context);
  if (!context.host.hasExecutable(emulator)) {
    throw errors.HypervisorEmulationRefused(`Required emulator binary ${emulator} not found on node`, { fields });
  }
}
