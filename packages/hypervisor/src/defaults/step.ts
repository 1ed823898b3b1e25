import type { VirtualMachine, VirtualMachineInstance } from "@polyvirt/api";
import type { Architecture } from "../architecture.ts";
import type { DefaultsContext } from "../contract.ts";

/** One default: sets fields of the draft that nobody has set yet. Named, so that a hypervisor can replace it. */
export interface DefaultsStep {
  readonly name: string;
  readonly set: (draft: VirtualMachineInstance, context: DefaultsContext) => void;
}

/** One default of a VirtualMachine. What instances get when they are made is not repeated in their template. */
export interface MachineDefaultsStep {
  readonly name: string;
  readonly set: (draft: VirtualMachine, context: DefaultsContext) => void;
}

export type ArchitectureSteps = Readonly<Partial<Record<Architecture, readonly DefaultsStep[]>>>;

/** The layers of one hypervisor, in the order in which they run. A later layer never sees a field that an earlier one set as free. */
export interface DefaultsLayers {
  readonly base: readonly DefaultsStep[];
  readonly hypervisor: readonly DefaultsStep[];
  readonly architecture: ArchitectureSteps;
  /** Hypervisor and architecture together: `mshv/amd64`. */
  readonly pair: ArchitectureSteps;
  readonly finalization: readonly DefaultsStep[];
  /** For VirtualMachines, apart from the layers above, which are for instances. */
  readonly machine: readonly MachineDefaultsStep[];
}

/** Go's zero values count as "not set", as they do for KubeVirt: absent, null, empty text and 0. */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === 0;
}
