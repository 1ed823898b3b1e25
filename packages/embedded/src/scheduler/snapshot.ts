import type { Node, Pod } from "@polyvirt/api/k8s";
import { add, amountsOf, podRequests, type Amounts } from "./resource-amount.ts";

/** One node with what its pods already take. */
export interface NodeState {
  readonly node: Node;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: ReadonlyMap<string, number>;
  readonly used: Amounts;
  readonly pods: Map<string, Pod>;
}

/** Nodes and their pods at one moment; `place` keeps it true while several pods are scheduled after each other. */
export interface Snapshot {
  readonly nodes: readonly NodeState[];
  /** Placed pods that must not have certain others beside them; few, so that they are not searched for each time. */
  readonly objectors: readonly { readonly pod: Pod; readonly state: NodeState }[];
  place(pod: Pod, nodeName: string): void;
}

/** The snapshot as it would be without some pods of one node. */
export function snapshotWithout(
  snapshot: Snapshot,
  state: NodeState,
  removed: ReadonlySet<string>,
): { snapshot: Snapshot; state: NodeState } {
  const pods = new Map([...state.pods].filter(([uid]) => !removed.has(uid)));
  const used: Amounts = new Map();
  for (const pod of pods.values()) add(used, podRequests(pod.spec));
  const rest: NodeState = { ...state, pods, used };
  return {
    state: rest,
    snapshot: {
      nodes: snapshot.nodes.map((other) => (other === state ? rest : other)),
      objectors: snapshot.objectors.filter(({ pod }) => !removed.has(pod.metadata.uid ?? "")),
      place() {},
    },
  };
}

export function createSnapshot(nodes: readonly Node[], pods: readonly Pod[]): Snapshot {
  const states = nodes.map((node): NodeState => ({
    node,
    name: node.metadata.name ?? "",
    labels: node.metadata.labels ?? {},
    allocatable: amountsOf(node.status?.allocatable ?? node.status?.capacity),
    used: new Map(),
    pods: new Map(),
  }));
  const byName = new Map(states.map((state) => [state.name, state]));
  const objectors: { pod: Pod; state: NodeState }[] = [];
  const place = (pod: Pod, nodeName: string): void => {
    const state = byName.get(nodeName);
    const uid = pod.metadata.uid ?? "";
    if (state === undefined || state.pods.has(uid)) return;
    state.pods.set(uid, pod);
    const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    if (terms.length > 0) objectors.push({ pod, state });
    add(state.used, podRequests(pod.spec));
  };
  for (const pod of pods) {
    if (pod.spec.nodeName !== undefined && !isFinished(pod)) place(pod, pod.spec.nodeName);
  }
  return { nodes: states, objectors, place };
}

/** A finished pod takes nothing any more, although it is still listed. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}
