import { finalizers, isFinal, unpausedReadinessGate, type VirtualMachineInstance } from "@polyvirt/api";
import { persistentVolumeClaims, pods, type PersistentVolumeClaim, type Pod } from "@polyvirt/api/k8s";
import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import type { EventRecorder, Informer, KubeClient, ObjectWriter, ReconcileResult } from "@polyvirt/kube";
import { ensureStateClaim } from "../backend-storage/ensure-state-claim.ts";
import type { ClusterSettings } from "../cluster-settings.ts";
import { errors } from "../errors.ts";
import { carryOutHotplug, observeHotplug } from "../hotplug/carry-out.ts";
import type { LauncherPodContext } from "../launcher-pod/context.ts";
import { launcherPodName } from "../launcher-pod/name.ts";
import { renderLauncherPod } from "../launcher-pod/render.ts";
import { launcherUser } from "../launcher-pod/user.ts";
import { claimNames } from "../launcher-pod/volumes.ts";
import type { PossiblePlacement } from "../placement/placement.ts";
import type { ContextIds } from "../vsock/context-ids.ts";
import { withClaimStatus } from "./claim-status.ts";
import { StatusDraft } from "./draft.ts";
import type { ObservedVmi, VmiPlan } from "./observed.ts";
import { earliest, planVmi } from "./plan.ts";
import { isControlledBy } from "./pod-state.ts";

export interface VmiReconcilerDeps {
  readonly client: Pick<KubeClient, "get" | "list" | "create" | "patch" | "delete">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly vmis: ObjectWriter<VirtualMachineInstance>;
  /** With the index `owner` over the UIDs of controlling owners. */
  readonly pods: Pick<Informer<Pod>, "byIndex">;
  readonly podWriter: ObjectWriter<Pod>;
  readonly settings: ClusterSettings;
  readonly contextIds: ContextIds;
  readonly launcherImage: string;
  readonly hypervisorModules: readonly string[];
}

/** A pod that cannot be made today cannot be made tomorrow. */
const hopelessCodes = [
  "LauncherPodVolumeUnsupported",
  "LauncherPodArchitectureUnknown",
  "HypervisorUnknown",
  "KubeInvalid",
] as const;

/** Look again this soon when a claim is missing; claims are not watched. */
const CLAIM_RETRY_MS = 5_000;
/** Look again this soon while a claim that was just made gets its volume. */
const BINDING_RETRY_MS = 200;

type PodVolumes = Pick<LauncherPodContext, "claims" | "stateClaim">;

export interface VmiReconciler {
  reconcile(key: string): Promise<ReconcileResult>;
}

/** Brings one VMI and its launcher pod together, if and only if this process is the leader. */
export function createVmiReconciler(deps: VmiReconcilerDeps): VmiReconciler {
  return new Reconciler(deps);
}

class Reconciler implements VmiReconciler {
  readonly #deps: VmiReconcilerDeps;
  /** Since when the pod of a VMI is missing, by the VMI's namespace and name. */
  readonly #missingSince = new Map<string, number>();

  constructor(deps: VmiReconcilerDeps) {
    this.#deps = deps;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const vmi = this.#deps.vmis.get(key);
    if (vmi === undefined) {
      this.#missingSince.delete(key);
      return {};
    }
    const observed = await this.#observe(key, vmi);
    return this.#carryOut(vmi, planVmi(observed));
  }

  async #observe(key: string, vmi: VirtualMachineInstance): Promise<ObservedVmi> {
    const base = {
      vmi,
      hotplug: await observeHotplug(vmi, this.#deps),
      placement: () => this.#deps.settings.placementOf(vmi),
      launcherUser: launcherUser(vmi, this.#deps.settings.config()),
      contextId: () => this.#deps.contextIds.idOf(vmi),
      now: new Date(this.#deps.clock.now()),
    };
    let owned: Pod[] = this.#deps.pods
      .byIndex("owner", vmi.metadata.uid ?? "")
      .map((pod) => this.#deps.podWriter.latest(pod));
    // The cache may be behind; that a pod is missing is only believed when the server says so.
    if (owned.length === 0 && isPodExpected(vmi)) owned = await this.#fetchPod(vmi);
    if (owned.length > 0 || isFinal(vmi)) {
      this.#missingSince.delete(key);
      return { ...base, pods: owned, podMissingForMs: 0 };
    }
    const since = this.#missingSince.get(key) ?? this.#deps.clock.monotonic();
    if (isPodExpected(vmi)) this.#missingSince.set(key, since);
    return { ...base, pods: [], podMissingForMs: this.#deps.clock.monotonic() - since };
  }

  async #fetchPod(vmi: VirtualMachineInstance): Promise<Pod[]> {
    try {
      const pod = await this.#deps.client.get(pods, launcherPodName(vmi), vmi.metadata.namespace);
      return isControlledBy(pod, vmi.metadata.uid) ? [pod] : [];
    } catch (error) {
      if (hasCode(error, "KubeNotFound")) return [];
      throw error;
    }
  }

  async #carryOut(vmi: VirtualMachineInstance, plan: VmiPlan): Promise<ReconcileResult> {
    let current = vmi;
    let { status } = plan;
    if (plan.createPod !== undefined) {
      const { claims, missing } = await this.#fetchClaims(vmi);
      if (missing !== undefined) {
        await this.#reportWaiting(vmi, "FailedPvcNotFound", `persistent volume claim "${missing}" does not exist`);
        return { requeueAfterMs: CLAIM_RETRY_MS };
      }
      const state = await this.#stateClaim(vmi);
      if (state?.readiness.kind === "waiting") {
        const { message } = state.readiness;
        if (message === undefined) return { requeueAfterMs: BINDING_RETRY_MS };
        await this.#reportWaiting(vmi, "PersistentStateClaimPending", message);
        return { requeueAfterMs: CLAIM_RETRY_MS };
      }
      const volumes = { claims, stateClaim: state?.claim.metadata.name };
      if ((await this.#createPod(vmi, volumes, plan.createPod)) === "hopeless") return {};
      status = withClaimStatus(status ?? {}, vmi, claims, state?.claim);
    }
    if (plan.metadata !== undefined) current = await this.#deps.vmis.writeMetadata(current, plan.metadata);
    if (status !== undefined) current = await this.#deps.vmis.writeStatus(current, status);
    for (const { type, reason, message } of plan.events) this.#deps.recorder.record(vmi, type, reason, message);
    for (const condition of plan.podConditions) await this.#patchGate(condition);
    for (const pod of plan.deletePods) await this.#deletePod(vmi, pod);
    const hotplugRetryMs = await carryOutHotplug(current, plan.hotplug, this.#deps);
    if (plan.release) {
      const rest = (current.metadata.finalizers ?? []).filter((name) => name !== finalizers.virtualMachineInstance);
      await this.#deps.vmis.writeMetadata(current, { finalizers: rest });
    }
    const requeueAfterMs = earliest(plan.requeueAfterMs, hotplugRetryMs);
    return requeueAfterMs === undefined ? {} : { requeueAfterMs };
  }

  async #createPod(
    vmi: VirtualMachineInstance,
    volumes: PodVolumes,
    placement: PossiblePlacement,
  ): Promise<"made" | "hopeless"> {
    try {
      const pod = await this.#create(vmi, volumes, placement);
      const message = `Created virtual machine pod ${pod.metadata.name}`;
      this.#deps.recorder.record(vmi, "Normal", "SuccessfulCreate", message);
    } catch (error) {
      const message = `the launcher pod could not be made: ${describeError(error)}`;
      if (hasCode(error, "KubeAlreadyExists")) {
        await this.#checkExisting(vmi);
      } else if (hopelessCodes.some((code) => hasCode(error, code))) {
        await this.#fail(vmi, "FailedCreate", message);
        return "hopeless";
      } else {
        await this.#reportWaiting(vmi, "FailedCreate", message);
        throw error;
      }
    }
    return "made";
  }

  async #create(vmi: VirtualMachineInstance, volumes: PodVolumes, placement: PossiblePlacement): Promise<Pod> {
    const { client, settings, launcherImage, hypervisorModules } = this.#deps;
    const images = { launcherImage, hypervisorModules };
    const context = { ...images, config: settings.config(), hypervisor: settings.hypervisorOf(vmi), ...volumes };
    return client.create(pods, renderLauncherPod(vmi, { ...context, placement }));
  }

  /** A pod of that name is there already: ours from an earlier attempt, or a stranger's. */
  async #checkExisting(vmi: VirtualMachineInstance): Promise<void> {
    const name = launcherPodName(vmi);
    const pod = await this.#deps.client.get(pods, name, vmi.metadata.namespace);
    if (isControlledBy(pod, vmi.metadata.uid)) return;
    const message = `pod ${vmi.metadata.namespace}/${name} exists and does not belong to the VMI; delete it`;
    await this.#reportWaiting(vmi, "FailedCreate", message);
    throw errors.LauncherPodNameTaken(`make the launcher pod of ${vmi.metadata.name}: ${message}`);
  }

  async #fetchClaims(vmi: VirtualMachineInstance) {
    const claims = new Map<string, PersistentVolumeClaim>();
    for (const name of claimNames(vmi)) {
      try {
        claims.set(name, await this.#deps.client.get(persistentVolumeClaims, name, vmi.metadata.namespace));
      } catch (error) {
        if (hasCode(error, "KubeNotFound")) return { claims, missing: name };
        throw error;
      }
    }
    return { claims, missing: undefined };
  }

  async #stateClaim(vmi: VirtualMachineInstance) {
    const { client, settings, clock } = this.#deps;
    try {
      return await ensureStateClaim(vmi, { client, config: settings.config(), now: new Date(clock.now()) });
    } catch (error) {
      const message = `the claim for the guest's state could not be made: ${describeError(error)}`;
      await this.#reportWaiting(vmi, "FailedBackendStorageCreate", message);
      throw error;
    }
  }

  /** The VMI stays where it is; people see why. */
  async #reportWaiting(vmi: VirtualMachineInstance, reason: string, message: string): Promise<void> {
    const draft = new StatusDraft(vmi, new Date(this.#deps.clock.now()));
    draft.setCondition({ type: "Synchronized", status: "False", reason, message });
    this.#deps.recorder.record(vmi, "Warning", reason, message);
    await this.#deps.vmis.writeStatus(vmi, draft.status);
  }

  /** Nothing that comes later can make this VMI run. */
  async #fail(vmi: VirtualMachineInstance, reason: string, message: string): Promise<void> {
    const draft = new StatusDraft(vmi, new Date(this.#deps.clock.now()));
    draft.fail(reason, message);
    for (const event of draft.events) this.#deps.recorder.record(vmi, event.type, event.reason, event.message);
    await this.#deps.vmis.writeStatus(vmi, draft.status);
  }

  async #patchGate({ pod, status, reason }: VmiPlan["podConditions"][number]): Promise<void> {
    const { name = "", namespace, uid } = pod.metadata;
    const lastTransitionTime = new Date(this.#deps.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const condition = { type: unpausedReadinessGate, status, reason, lastTransitionTime };
    // Strategic: conditions are merged by type, so that the kubelet's own stay as they are.
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    await this.#ignoreMissing(async () => {
      const request = { type: "strategic", body, subresource: "status" } as const;
      this.#deps.podWriter.wrote(pod, await this.#deps.client.patch(pods, name, namespace, request));
    });
  }

  async #deletePod(vmi: VirtualMachineInstance, pod: Pod): Promise<void> {
    const { name = "", namespace, uid } = pod.metadata;
    const preconditions = uid === undefined ? {} : { uid };
    const done = await this.#ignoreMissing(() => this.#deps.client.delete(pods, name, namespace, { preconditions }));
    if (done) {
      this.#deps.recorder.record(vmi, "Normal", "SuccessfulDelete", `Deleted virtual machine pod ${name}`);
    }
  }

  async #ignoreMissing(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      if (hasCode(error, "KubeNotFound")) return false;
      throw error;
    }
  }
}

/** From Scheduling on, until the end, a VMI has a pod. */
function isPodExpected(vmi: VirtualMachineInstance): boolean {
  const phase = vmi.status?.phase;
  return phase === "Scheduling" || phase === "Scheduled" || phase === "Running" || phase === "Unknown";
}
