import { claimOf, isHotpluggable, type VirtualMachineInstance, type Volume, type VolumeStatus } from "@polyvirt/api";
import type { PersistentVolumeClaim, Pod } from "@polyvirt/api/k8s";
import { describeClaim } from "../vmi/claim-status.ts";
import type { StatusDraft } from "../vmi/draft.ts";
import { isPodFinished, isPodTerminating } from "../vmi/pod-state.ts";
import { attachedVolumes, attachmentPodName, type AttachedVolume } from "./attachment-pod.ts";
import type { HotplugPlan, ObservedHotplug } from "./observed.ts";

const nothing: HotplugPlan = { attach: undefined, deleteAttachments: [], awaitsClaim: false };
/** In the launcher already: what becomes of the attachment pod does not matter to them. */
const inLauncher: readonly (string | undefined)[] = ["MountedToPod", "Ready"];
const beforeAttachment: readonly (string | undefined)[] = [undefined, "", "Pending", "Bound"];
/** On the way out; one that is wanted again starts anew. */
const leavingLauncher: readonly (string | undefined)[] = ["Detaching", "UnMountedFromPod"];

/** Whether the VMI has hotplugged volumes, or had some that are still on their way out. */
export function hasHotplug({ spec, status }: VirtualMachineInstance): boolean {
  return (
    (spec.volumes ?? []).some(isHotpluggable) ||
    (status?.volumeStatus ?? []).some(({ hotplugVolume }) => hotplugVolume !== undefined)
  );
}

/**
 * Decides about the volumes that come and go while the guest runs:
 * - one pod holds all of them; when the set changes, another pod is made, and the one before goes when that one runs
 * - a volume that is no longer wanted stays held until virt-handler has taken it out of the launcher
 * - a guest that ends keeps its volumes until its launcher has ended
 * - how far each is, is told in the status; from the mount on, virt-handler tells it
 */
export function planHotplug(
  vmi: VirtualMachineInstance,
  launcher: Pod | undefined,
  observed: ObservedHotplug | undefined,
  draft: StatusDraft,
): HotplugPlan {
  if (observed === undefined) return nothing;
  const present = observed.attachments.filter((pod) => !isPodTerminating(pod));
  if (launcher === undefined || isPodFinished(launcher)) return { ...nothing, deleteAttachments: present };
  // A guest that is ending uses its disks to the last; what it leaves behind goes with its launcher.
  const ending = vmi.metadata.deletionTimestamp !== undefined || isPodTerminating(launcher);
  if (ending || !isHandedOver(draft)) return nothing;
  const wanted = (vmi.spec.volumes ?? []).filter(isHotpluggable);
  const held = volumesToHold(wanted, observed.claims, draft.status.volumeStatus ?? []);
  const name = attachmentPodName(launcher.metadata.uid ?? "", held);
  const current = present.find((pod) => pod.metadata.name === name && !isPodFinished(pod));
  describeVolumes(wanted, current, observed, draft);
  const settled = held.length === 0 || (current !== undefined && isReady(current));
  const busy = stillMounted(wanted, draft.status.volumeStatus ?? []);
  const obsolete = present.filter((pod) => pod !== current && (isPodFinished(pod) || settled));
  return {
    attach: held.length > 0 && current === undefined ? held : undefined,
    deleteAttachments: obsolete.filter(
      (pod) => isPodFinished(pod) || !attachedVolumes(pod).some((volume) => busy.has(volume)),
    ),
    awaitsClaim: wanted.some((volume) => claimFor(volume, observed)?.status?.phase !== "Bound"),
  };
}

function isHandedOver({ phase }: StatusDraft): boolean {
  return phase === "Scheduled" || phase === "Running" || phase === "Unknown";
}

/**
 * Claims with a volume come first. A claim without one may be waiting for a pod that uses it; but a pod with such a claim
 * may wait for ever, so it is tried only when that keeps nobody else waiting.
 */
function volumesToHold(
  wanted: readonly Volume[],
  claims: ObservedHotplug["claims"],
  statuses: readonly VolumeStatus[],
): AttachedVolume[] {
  const existing = wanted.flatMap((volume) => {
    const claim = claims.get(claimOf(volume) ?? "");
    return claim === undefined ? [] : [{ volume, claim }];
  });
  const bound = existing.filter(({ claim }) => claim.status?.phase === "Bound");
  const served = bound.every(({ volume }) => inLauncher.includes(phaseOf(statuses, volume.name)));
  return served ? existing : bound;
}

/** Volumes that are not wanted any more, but that the launcher still has. */
function stillMounted(wanted: readonly Volume[], statuses: readonly VolumeStatus[]): Set<string> {
  const names = new Set(wanted.map(({ name }) => name));
  return new Set(
    statuses
      .filter(({ name, hotplugVolume }) => hotplugVolume !== undefined && !names.has(name))
      .filter(({ phase }) => phase !== "UnMountedFromPod")
      .map(({ name }) => name),
  );
}

function describeVolumes(
  wanted: readonly Volume[],
  current: Pod | undefined,
  observed: ObservedHotplug,
  draft: StatusDraft,
): void {
  const before = draft.status.volumeStatus ?? [];
  const names = new Set(wanted.map(({ name }) => name));
  const others = before.filter(({ name, hotplugVolume }) => hotplugVolume === undefined && !names.has(name));
  const present = wanted.map((volume) => describeWanted(volume, current, observed, draft));
  const leaving = before
    .filter(({ name, hotplugVolume }) => hotplugVolume !== undefined && !names.has(name))
    .flatMap((status) => describeLeaving(status, observed.attachments, draft));
  const all = [...others, ...present, ...leaving].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (all.length > 0 || before.length > 0) draft.set({ volumeStatus: all });
}

function describeWanted(
  volume: Volume,
  current: Pod | undefined,
  observed: ObservedHotplug,
  draft: StatusDraft,
): VolumeStatus {
  const { name } = volume;
  const known = draft.status.volumeStatus?.find((entry) => entry.name === name) ?? { name, target: "" };
  const claim = claimFor(volume, observed);
  const status: VolumeStatus = {
    ...known,
    hotplugVolume: known.hotplugVolume ?? {},
    ...(claim === undefined ? {} : { persistentVolumeClaimInfo: describeClaim(claim) }),
  };
  const podName = current?.metadata.name;
  if (current === undefined || podName === undefined || !attachedVolumes(current).includes(name)) {
    return inLauncher.includes(status.phase) ? status : { ...status, hotplugVolume: {}, ...awaiting(volume, claim) };
  }
  const hotplugVolume = {
    attachPodName: podName,
    // Only of a pod that runs: virt-handler goes in there.
    ...(isReady(current) && current.metadata.uid !== undefined ? { attachPodUID: current.metadata.uid } : {}),
  };
  if (![...beforeAttachment, ...leavingLauncher].includes(status.phase)) return { ...status, hotplugVolume };
  const message = `Created hotplug attachment pod ${podName}, for volume ${name}`;
  draft.event("Normal", "SuccessfulCreate", message);
  return { ...status, hotplugVolume, phase: "AttachedToNode", reason: "SuccessfulCreate", message };
}

function awaiting(
  volume: Volume,
  claim: PersistentVolumeClaim | undefined,
): Pick<VolumeStatus, "phase" | "reason" | "message"> {
  if (claim === undefined)
    return { phase: "Pending", reason: "FailedPvcNotFound", message: `PVC ${claimOf(volume)} not found` };
  const phase = claim.status?.phase ?? "Pending";
  return {
    phase: phase === "Bound" ? "Bound" : "Pending",
    reason: "PVCNotReady",
    message: `PVC ${claimOf(volume)} is in phase ${phase}`,
  };
}

/** Stays in the status until no pod holds the volume any more. */
function describeLeaving(status: VolumeStatus, attachments: readonly Pod[], draft: StatusDraft): VolumeStatus[] {
  const { name, phase, target } = status;
  const holder = attachments.find((pod) => attachedVolumes(pod).includes(name));
  const out = phase === "UnMountedFromPod" || beforeAttachment.includes(phase);
  if (holder === undefined && out && target === "") return [];
  if (leavingLauncher.includes(phase)) return [status];
  const message = `Volume ${name} is being detached from the guest`;
  draft.event("Normal", "VolumeDetaching", message);
  return [{ ...status, phase: "Detaching", reason: "VolumeDetaching", message }];
}

function claimFor(volume: Volume, { claims }: ObservedHotplug): PersistentVolumeClaim | undefined {
  return claims.get(claimOf(volume) ?? "");
}

function phaseOf(statuses: readonly VolumeStatus[], volume: string): string | undefined {
  return statuses.find(({ name }) => name === volume)?.phase;
}

function isReady({ status }: Pod): boolean {
  const containers = status?.containerStatuses ?? [];
  return containers.length > 0 && containers.every(({ ready }) => ready);
}
