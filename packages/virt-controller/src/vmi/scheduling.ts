import { annotations, conditionTypes, getCondition, labels, type VirtualMachineInstance } from "@polyvirt/api";
import { formatQuantity, quantityOfBytes } from "@polyvirt/core";
import type { Pod } from "@polyvirt/api/k8s";
import type { StatusDraft } from "./draft.ts";
import type { ObservedVmi, VmiMetadataChange } from "./observed.ts";
import { arePodContainersReady, describePodEnd, imageProblem, isPodFinished, isPodTerminating } from "./pod-state.ts";

/** From the pod's existence to the hand-over: mirrors why it waits, and ends the VMI when the pod cannot start. */
export function followScheduling(observed: ObservedVmi, pod: Pod, draft: StatusDraft): VmiMetadataChange | undefined {
  draft.setPhase("Scheduling");
  mirrorPodScheduled(pod, draft);
  mirrorImageProblem(pod, draft);
  if (isPodFinished(pod)) {
    draft.fail("LauncherPodFailed", `${describePodEnd(pod)} before the guest was started`);
    return undefined;
  }
  if (isPodTerminating(pod)) {
    draft.fail("LauncherPodDeleted", `launcher pod ${pod.metadata.name} was deleted before the guest was started`);
    return undefined;
  }
  if (!arePodContainersReady(pod)) return undefined;
  return handOver(observed, pod, draft);
}

/** The launcher is ready: from now on virt-handler of the pod's node owns the VMI. */
function handOver({ vmi, contextId }: ObservedVmi, pod: Pod, draft: StatusDraft): VmiMetadataChange | undefined {
  const nodeName = pod.spec.nodeName ?? "";
  draft.setPhase("Scheduled");
  draft.set({
    nodeName,
    activePods: { [pod.metadata.uid ?? ""]: nodeName },
    migrationTransport: "Unix",
    ...(pod.status?.qosClass === undefined ? {} : { qosClass: pod.status.qosClass }),
    ...launcherVersion(pod),
    ...memoryOverhead(pod, draft),
    ...podInterface(vmi, pod),
    ...(vmi.spec.domain.devices.autoattachVSOCK === true ? { VSOCKCID: contextId() } : {}),
  });
  draft.event("Normal", "SuccessfulHandOver", `Pod ownership transferred to the node ${nodeName}`);
  // Written before the status, so that virt-handler's watch by label has the VMI when the phase changes.
  return vmi.metadata.labels?.[labels.nodeName] === nodeName ? undefined : { labels: { [labels.nodeName]: nodeName } };
}

/** The interface on the pod's network is reached by the pod's own address. */
function podInterface({ spec }: VirtualMachineInstance, pod: Pod): Pick<StatusDraft["status"], "interfaces"> {
  const network = spec.networks?.find(({ pod: source }) => source !== undefined);
  const found = spec.domain.devices.interfaces?.find(({ name }) => name === network?.name);
  const address = pod.status?.podIP;
  if (found === undefined || address === undefined) return {};
  const ipAddresses = pod.status?.podIPs?.map(({ ip }) => ip) ?? [address];
  const { name, macAddress } = found;
  const mac = macAddress === undefined ? {} : { mac: macAddress };
  return {
    interfaces: [{ name, ...mac, ipAddress: address, ipAddresses, infoSource: "domain", podInterfaceName: "eth0" }],
  };
}

/** What the launcher may use beside guest memory, as it was computed when the pod was made. */
function memoryOverhead(pod: Pod, draft: StatusDraft): Pick<StatusDraft["status"], "memory"> {
  const bytes = Number(pod.metadata.annotations?.[annotations.memoryOverheadBytes]);
  if (!Number.isSafeInteger(bytes)) return {};
  return { memory: { ...draft.status.memory, memoryOverhead: formatQuantity(quantityOfBytes(bytes)) } };
}

function launcherVersion(pod: Pod): { launcherContainerImageVersion?: string } {
  const image = pod.spec.containers[0]?.image;
  return image === undefined ? {} : { launcherContainerImageVersion: image };
}

function mirrorPodScheduled(pod: Pod, draft: StatusDraft): void {
  const scheduled = getCondition(pod.status, "PodScheduled");
  if (scheduled === undefined) return;
  if (scheduled.status === "True") {
    draft.removeCondition(conditionTypes.podScheduled);
    return;
  }
  draft.setCondition({
    type: conditionTypes.podScheduled,
    status: scheduled.status,
    ...(scheduled.reason === undefined ? {} : { reason: scheduled.reason }),
    ...(scheduled.message === undefined ? {} : { message: scheduled.message }),
  });
}

function mirrorImageProblem(pod: Pod, draft: StatusDraft): void {
  const problem = imageProblem(pod);
  const known = getCondition(draft.status, conditionTypes.synchronized);
  if (problem === undefined) {
    if (known?.status === "False") draft.removeCondition(conditionTypes.synchronized);
    return;
  }
  draft.setCondition({ type: conditionTypes.synchronized, status: "False", ...problem });
  if (known?.reason !== problem.reason) draft.event("Warning", problem.reason, problem.message);
}
