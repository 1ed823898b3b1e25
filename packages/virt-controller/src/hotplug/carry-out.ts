import { claimOf, isHotpluggable, type VirtualMachineInstance } from "@polyvirt/api";
import { persistentVolumeClaims, pods, type PersistentVolumeClaim, type Pod } from "@polyvirt/api/k8s";
import { describeError, hasCode } from "@polyvirt/core";
import type { EventRecorder, Informer, KubeClient } from "@polyvirt/kube";
import { attachmentPodName, renderAttachmentPod, type AttachedVolume } from "./attachment-pod.ts";
import type { HotplugPlan, ObservedHotplug } from "./observed.ts";
import { hasHotplug } from "./plan.ts";

interface HotplugDeps {
  readonly client: Pick<KubeClient, "get" | "create" | "delete">;
  readonly recorder: EventRecorder;
  /** With the index `owner` over the UIDs of controlling owners. */
  readonly pods: Pick<Informer<Pod>, "byIndex">;
}

/** Look again this soon at claims that are missing or not bound. */
const CLAIM_RETRY_MS = 2_000;
/** A pod of the same name is on its way out. */
const NAME_RETRY_MS = 200;

/** Undefined for a VMI without volumes that come and go: nothing is asked for it. */
export async function observeHotplug(
  vmi: VirtualMachineInstance,
  { client, pods: known }: HotplugDeps,
): Promise<ObservedHotplug | undefined> {
  if (!hasHotplug(vmi)) return undefined;
  const claims = new Map<string, PersistentVolumeClaim>();
  for (const volume of (vmi.spec.volumes ?? []).filter(isHotpluggable)) {
    const name = claimOf(volume) ?? "";
    try {
      claims.set(name, await client.get(persistentVolumeClaims, name, vmi.metadata.namespace));
    } catch (error) {
      if (!hasCode(error, "KubeNotFound")) throw error;
    }
  }
  const launchers = known.byIndex("owner", vmi.metadata.uid ?? "");
  return { claims, attachments: launchers.flatMap(({ metadata }) => known.byIndex("owner", metadata.uid ?? "")) };
}

/** Makes and deletes attachment pods; answers when to look again. */
export async function carryOutHotplug(
  vmi: VirtualMachineInstance,
  plan: HotplugPlan,
  deps: HotplugDeps,
): Promise<number | undefined> {
  for (const pod of plan.deleteAttachments) await deletePod(vmi, pod, deps);
  const retryMs = plan.attach === undefined ? undefined : await createPod(vmi, plan.attach, deps);
  return retryMs ?? (plan.awaitsClaim ? CLAIM_RETRY_MS : undefined);
}

async function createPod(
  vmi: VirtualMachineInstance,
  attached: readonly AttachedVolume[],
  { client, recorder, pods: known }: HotplugDeps,
): Promise<number | undefined> {
  const [launcher] = known.byIndex("owner", vmi.metadata.uid ?? "");
  if (launcher === undefined) return NAME_RETRY_MS;
  try {
    const pod = await client.create(pods, renderAttachmentPod(vmi, launcher, attached));
    recorder.record(vmi, "Normal", "SuccessfulCreate", `Created attachment pod ${pod.metadata.name}`);
    return undefined;
  } catch (error) {
    // One from before that still ends, or one that the cache has not shown yet.
    if (hasCode(error, "KubeAlreadyExists")) return NAME_RETRY_MS;
    const name = attachmentPodName(launcher.metadata.uid ?? "", attached);
    recorder.record(vmi, "Warning", "FailedCreate", `Error creating attachment pod ${name}: ${describeError(error)}`);
    throw error;
  }
}

async function deletePod(vmi: VirtualMachineInstance, pod: Pod, { client, recorder }: HotplugDeps): Promise<void> {
  const { name = "", namespace, uid } = pod.metadata;
  const preconditions = uid === undefined ? {} : { uid };
  try {
    await client.delete(pods, name, namespace, { preconditions });
    recorder.record(vmi, "Normal", "SuccessfulDelete", `Deleted attachment pod ${name}`);
  } catch (error) {
    if (!hasCode(error, "KubeNotFound")) throw error;
  }
}
