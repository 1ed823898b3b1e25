import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Architecture } from "../architecture.ts";
import type { DefaultsContext } from "../contract.ts";

/** One default: sets fields of the draft that nobody has set yet. Named, so that a hypervisor can replace it. */
export interface DefaultsStep {
  readonly name: string;
  readonly set: (draft: VirtualMachineInstance, context: DefaultsContext) => void;
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
}

/** Go's zero values count as "not set", as they do for KubeVirt: absent, null, empty text and 0. */
export function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === "" || value === 0;
}
