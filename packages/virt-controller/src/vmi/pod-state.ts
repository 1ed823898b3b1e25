import { computeContainer } from "../launcher-pod/context.ts";
import type { ContainerStatus, Pod } from "@polyvirt/api/k8s";

/** Whether the pod's owner, by UID, is this VMI. Labels and names prove nothing. */
export function isControlledBy(pod: Pod, uid: string | undefined): boolean {
  return (
    uid !== undefined &&
    (pod.metadata.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === uid)
  );
}

export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded";
}

export function isPodTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/**
 * The launcher runs and all others are ready. That the launcher is ready may depend on its guest, which is started only
 * after this; and the readiness gate is ours and does not count here.
 */
export function arePodContainersReady(pod: Pod): boolean {
  const statuses = pod.status?.containerStatuses ?? [];
  const isUp = ({ name, ready, state }: ContainerStatus): boolean =>
    name === computeContainer ? ready || state?.running !== undefined : ready;
  return pod.status?.phase === "Running" && statuses.length > 0 && statuses.every(isUp);
}

const imageProblems: readonly string[] = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"];

/** The first container, or volume, whose image cannot be had. */
export function imageProblem(pod: Pod): { reason: string; message: string } | undefined {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { name, image, state } of statuses) {
    const waiting = state?.waiting;
    if (waiting?.reason !== undefined && imageProblems.includes(waiting.reason)) {
      const why = waiting.message ?? `image ${image} cannot be pulled`;
      return { reason: waiting.reason, message: `container ${name}: ${why}` };
    }
  }
  return undefined;
}

function computeStatus(pod: Pod): ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === computeContainer);
}

/** Why a finished pod is finished, for people. */
export function describePodEnd(pod: Pod): string {
  const terminated = computeStatus(pod)?.state?.terminated;
  const parts = [
    `launcher pod ${pod.metadata.name} ended as ${pod.status?.phase}`,
    terminated === undefined ? undefined : exitText(terminated),
    pod.status?.reason,
    pod.status?.message ?? terminated?.message,
  ];
  return parts.filter((part) => part !== undefined && part !== "").join(": ");
}

function exitText({ exitCode, signal, reason }: { exitCode: number; signal?: number; reason?: string }): string {
  const how = signal === undefined || signal === 0 ? `exit code ${exitCode}` : `signal ${signal}`;
  return reason === undefined ? `its container had ${how}` : `its container had ${how} (${reason})`;
}

/** When the launcher's container ended; undefined when the kubelet has not said. */
export function podEndTime(pod: Pod): Date | undefined {
  const finishedAt = computeStatus(pod)?.state?.terminated?.finishedAt;
  return finishedAt === undefined ? undefined : new Date(finishedAt);
}
