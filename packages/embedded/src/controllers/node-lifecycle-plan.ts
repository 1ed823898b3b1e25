import type { Condition, Lease, Node, Pod, Taint } from "@polyvirt/api/k8s";
import { rfc3339 } from "../kubelet/pod-status.ts";
import { toleratedSeconds } from "../scheduler/taints.ts";

/** A node that was silent for this long is not known to live any more. */
const graceMs = 40_000;

const unreachable = "node.kubernetes.io/unreachable";
const notReady = "node.kubernetes.io/not-ready";
const unschedulable = "node.kubernetes.io/unschedulable";
const managedTaints = new Set([unreachable, notReady, unschedulable]);

export interface NodeVerdict {
  /** Conditions to write when the node is silent. */
  readonly conditions?: readonly Condition[];
  /** The whole list of taints, when it has to change. */
  readonly taints?: readonly Taint[];
  /** When to look again if nothing changes. */
  readonly againAt?: number;
}

/** What a node's silence or report means for its conditions and taints. Pure. */
export function judgeNode(node: Node, lease: Lease | undefined, now: number): NodeVerdict {
  const heard = lastHeard(node, lease);
  const silent = now - heard > graceMs;
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  const conditions = silent && ready?.status !== "Unknown" ? unknownConditions(node, now) : undefined;
  const status = silent ? "Unknown" : (ready?.status ?? "Unknown");
  const taints = wantedTaints(node, status, now);
  const changed = JSON.stringify(keysOf(taints)) !== JSON.stringify(keysOf(node.spec?.taints ?? []));
  return {
    ...(conditions === undefined ? {} : { conditions }),
    ...(changed ? { taints } : {}),
    ...(silent ? {} : { againAt: heard + graceMs + 1000 }),
  };
}

function lastHeard(node: Node, lease: Lease | undefined): number {
  const created = Date.parse(node.metadata.creationTimestamp ?? "") || 0;
  const renewed = Date.parse(lease?.spec?.renewTime ?? "") || 0;
  return Math.max(created, renewed);
}

function unknownConditions(node: Node, now: number): Condition[] {
  return (node.status?.conditions ?? [{ type: "Ready", status: "Unknown" }]).map((condition) => ({
    ...condition,
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
    lastTransitionTime: rfc3339(now),
  }));
}

function wantedTaints(node: Node, ready: string, now: number): Taint[] {
  const existing = node.spec?.taints ?? [];
  const keep = (key: string, effect: Taint["effect"]): Taint =>
    existing.find((taint) => taint.key === key && taint.effect === effect) ?? { key, effect, timeAdded: rfc3339(now) };
  const wanted = existing.filter(({ key }) => !managedTaints.has(key));
  if (node.spec?.unschedulable === true) wanted.push(keep(unschedulable, "NoSchedule"));
  const trouble = ready === "Unknown" ? unreachable : ready === "False" ? notReady : undefined;
  if (trouble !== undefined) wanted.push(keep(trouble, "NoSchedule"), keep(trouble, "NoExecute"));
  return wanted;
}

function keysOf(taints: readonly Taint[]): string[] {
  return taints.map(({ key, value, effect }) => `${key}=${value ?? ""}:${effect}`).sort();
}

export interface EvictionPlan {
  readonly evict: readonly Pod[];
  readonly againAt?: number;
}

/** Which pods have outstayed their toleration of the node's NoExecute taints. Pure. */
export function planEviction(node: Node, pods: readonly Pod[], now: number): EvictionPlan {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
  if (taints.length === 0) return { evict: [] };
  const since = Math.max(...taints.map(({ timeAdded }) => Date.parse(timeAdded ?? "") || now));
  const evict: Pod[] = [];
  let againAt: number | undefined;
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    const seconds = toleratedSeconds(pod.spec.tolerations, taints);
    if (seconds === undefined) continue;
    const due = since + seconds * 1000;
    if (due <= now) evict.push(pod);
    else againAt = Math.min(againAt ?? due, due);
  }
  return { evict, ...(againAt === undefined ? {} : { againAt }) };
}
