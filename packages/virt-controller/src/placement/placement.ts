import { nodeLabels } from "@polyvirt/api";
import { emulationRefusals, emulatorOf, type Architecture, type ClusterConfig } from "@polyvirt/hypervisor";

/** What of a node decides whether it can run a guest. */
export interface NodeOffer {
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** On which nodes a guest may run. */
export type Placement =
  /** Only where the guest's architecture is the node's own. */
  | { readonly mode: "native"; readonly candidates: readonly NodeOffer[] }
  /** Wherever there is an emulator for it, on nodes of its own architecture first. */
  | { readonly mode: "emulated"; readonly candidates: readonly NodeOffer[] }
  /** Nowhere, and no node that is there can change that. */
  | { readonly mode: "impossible"; readonly reason: string; readonly message: string };

export type PossiblePlacement = Exclude<Placement, { mode: "impossible" }>;

export interface PlacementInput {
  readonly architecture: Architecture;
  readonly config: Pick<ClusterConfig, "useEmulation" | "isEnabled">;
  /** Every node, whether it may run guests at the moment or not. */
  readonly nodes: readonly NodeOffer[];
  /** For the message only. */
  readonly hypervisorDevice: () => string;
}

const ARCHITECTURE_LABEL = "kubernetes.io/arch";

export function architectureSelector({ mode }: PossiblePlacement, architecture: string): Record<string, string> {
  return mode === "native"
    ? { [ARCHITECTURE_LABEL]: architecture }
    : { [`${nodeLabels.guestArchitecturePrefix}${architecture}`]: "true" };
}

/** Emulation is slow: nodes on which it is not needed come first. */
export function nativePreference(architecture: string) {
  const matchExpressions = [{ key: ARCHITECTURE_LABEL, operator: "In" as const, values: [architecture] }];
  return { weight: 100, preference: { matchExpressions } };
}

/** Guests of another architecture than the node's need both: the gate, and emulation. */
export function planPlacement({ architecture, config, nodes, hypervisorDevice }: PlacementInput): Placement {
  const gate = config.isEnabled("MultiArchitectureSoftwareEmulation");
  const mode = gate && config.useEmulation ? "emulated" : "native";
  const able = nodes.filter(({ labels }) => labels[nodeLabels.schedulable] === "true");
  const candidates = able.filter((node) => matches(node, architectureSelector({ mode, candidates: [] }, architecture)));
  const native = nodes.some((node) => isNative(node, architecture));
  // A node of the right kind that is away may come back; and without any node, nothing can be said yet.
  if (candidates.length > 0 || native || able.length === 0) return { mode, candidates };
  if (mode === "emulated") {
    const message = emulationRefusals.emulatorMissing(emulatorOf(architecture));
    return { mode: "impossible", reason: "EmulatorNotFound", message };
  }
  return gate
    ? {
        mode: "impossible",
        reason: "EmulationNotAllowed",
        message: emulationRefusals.emulationOff(hypervisorDevice()),
      }
    : {
        mode: "impossible",
        reason: "CrossArchitectureEmulationNotEnabled",
        message: emulationRefusals.crossArchitectureOff(),
      };
}

/** Whether asking for the resource excludes no node that could run the guest. */
export function everyCandidateOffers({ candidates }: PossiblePlacement, resourceName: string): boolean {
  return candidates.length > 0 && candidates.every(({ allocatable }) => (allocatable[resourceName] ?? "0") !== "0");
}

/** Whether the guest runs natively wherever it may go, so that the node's hypervisor is of use to it. */
export function isNativeEverywhere({ candidates }: PossiblePlacement, architecture: string): boolean {
  return candidates.every((node) => isNative(node, architecture));
}

function isNative({ labels }: NodeOffer, architecture: string): boolean {
  return labels[ARCHITECTURE_LABEL] === architecture;
}

function matches({ labels }: NodeOffer, selector: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}
