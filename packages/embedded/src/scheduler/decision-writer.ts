import {
  persistentVolumeClaims,
  pods as podResource,
  type Condition,
  type PersistentVolumeClaim,
  type Pod,
} from "@polyvirt/api/k8s";
import { hasCode, type Clock } from "@polyvirt/core";
import type { EventRecorder, KubeClient } from "@polyvirt/kube";
import { rfc3339 } from "../kubelet/pod-status.ts";
import { selectedNodeAnnotation } from "./volume-match.ts";

interface DecisionWriterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventRecorder;
}

/** Tells the API server what the scheduler has decided. A pod that is gone or changed meanwhile is nobody's problem. */
export class DecisionWriter {
  readonly #options: DecisionWriterOptions;

  constructor(options: DecisionWriterOptions) {
    this.#options = options;
  }

  /** False when the pod is gone or was bound by somebody else. */
  async bind(pod: Pod, nodeName: string): Promise<boolean> {
    const { client, events } = this.#options;
    const { name = "", namespace = "", uid = "" } = pod.metadata;
    const bound = await unlessGone(
      client.createSubresource(
        podResource,
        { name, namespace, subresource: "binding" },
        {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name, namespace, uid },
          target: { apiVersion: "v1", kind: "Node", name: nodeName },
        },
      ),
    );
    if (!bound) return false;
    const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
    events.record(typed(pod), "Normal", "Scheduled", message);
    return true;
  }

  /** The reason why a pod has to wait; `nominate` tells where it will go once others have left, "" takes that back. */
  async refuse(pod: Pod, reason: string, message: string, nominate?: string): Promise<void> {
    const before = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
    const nominated = nominate !== undefined && nominate !== (pod.status?.nominatedNodeName ?? "");
    const told = before?.status === "False" && before.reason === reason && before.message === message;
    if (told && !nominated) return;
    const condition = this.#condition("PodScheduled", "False", reason, message, before);
    const nomination = nominated ? { nominatedNodeName: nominate === "" ? null : nominate } : {};
    const patched = await this.#patchStatus(pod, { conditions: [condition], ...nomination });
    if (!patched || told || reason === "SchedulingGated") return;
    this.#options.events.record(typed(pod), "Warning", "FailedScheduling", message);
  }

  /** Makes a pod of lower priority go. */
  async preempt(victim: Pod, by: Pod, nodeName: string): Promise<void> {
    const { client, events } = this.#options;
    const { name = "", namespace, uid } = victim.metadata;
    const message = "default-scheduler: preempting to accommodate a higher priority pod";
    const condition = this.#condition("DisruptionTarget", "True", "PreemptionByScheduler", message);
    if (!(await this.#patchStatus(victim, { conditions: [condition] }))) return;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    if (!(await unlessGone(client.delete(podResource, name, namespace, preconditions)))) return;
    events.record(typed(victim), "Normal", "Preempted", `Preempted by pod ${by.metadata.uid} on node ${nodeName}`);
  }

  /** Lets a claim that waits for its first consumer have its volume, for use on this node. */
  async promise(claim: PersistentVolumeClaim, nodeName: string): Promise<void> {
    if (claim.metadata.annotations?.[selectedNodeAnnotation] === nodeName) return;
    const { name = "", namespace } = claim.metadata;
    const body = { metadata: { annotations: { [selectedNodeAnnotation]: nodeName } } };
    await unlessGone(this.#options.client.patch(persistentVolumeClaims, name, namespace, { type: "merge", body }));
  }

  #condition(type: string, status: "True" | "False", reason: string, message: string, before?: Condition): Condition {
    const kept = before?.status === status ? before.lastTransitionTime : undefined;
    return { type, status, reason, message, lastTransitionTime: kept ?? rfc3339(this.#options.clock.now()) };
  }

  #patchStatus(pod: Pod, status: object): Promise<boolean> {
    const { name = "", namespace, uid } = pod.metadata;
    // The UID makes the server refuse a pod that took over the name.
    const body = { metadata: { uid }, status };
    return unlessGone(
      this.#options.client.patch(podResource, name, namespace, { type: "strategic", subresource: "status", body }),
    );
  }
}

/** Items of a list carry no kind; events need one. */
function typed(pod: Pod): Pod {
  return { ...pod, apiVersion: "v1", kind: "Pod" };
}

async function unlessGone(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (hasCode(error, "KubeNotFound") || hasCode(error, "KubeConflict")) return false;
    throw error;
  }
}
