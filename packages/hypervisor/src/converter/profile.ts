import type { VirtualMachineInstance } from "@polyvirt/api";
import { architectureProfiles, type ArchitectureProfile } from "../arch/index.ts";
import { architectures, parseArchitecture } from "../architecture.ts";
import type { ConverterContext } from "./context.ts";
import { refuse } from "./refuse.ts";

/** The guest's architecture decides how its machine looks, never the host's. */
export function guestProfile(vmi: VirtualMachineInstance, context: ConverterContext): ArchitectureProfile {
  const name = vmi.spec.architecture || context.host.architecture;
  const architecture = parseArchitecture(name);
  if (architecture === undefined) {
    throw refuse("spec.architecture", `unsupported architecture: ${name} (known: ${architectures.join(", ")})`);
  }
  return architectureProfiles[architecture];
}

/** libvirt's `model` for a virtio device of this guest. */
export function virtioModel(vmi: VirtualMachineInstance, profile: ArchitectureProfile): string {
  return vmi.spec.domain.devices.useVirtioTransitional === true
    ? profile.virtioModel.transitional
    : profile.virtioModel.modern;
}

/** Names from the VMI keep their prefix in libvirt: only aliases that begin with `ua-` survive there. */
export function userAlias(name: string): { name: string } {
  return { name: `ua-${name}` };
}
