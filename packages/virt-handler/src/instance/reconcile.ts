import {
  conditionTypes,
  getCondition,
  isFinal,
  isHotpluggable,
  withCondition,
  withoutCondition,
  type VirtualMachineInstance,
} from "@polyvirt/api";
import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import type { EventRecorder, ObjectWriter, ReconcileResult } from "@polyvirt/kube";
import { hotplugStatuses, planMoves } from "../hotplug/plan.ts";
import type { VolumeMounts } from "../hotplug/volume-mounts.ts";
import type { SyncOptions } from "../launcher/launcher-commands.ts";
import { launcherOf, type Launchers, type LauncherView } from "../launcher/launchers.ts";
import type { GhostRecord } from "../launcher/ghost-records.ts";
import type { GuestNetwork } from "../network/guest-network.ts";
import type { PreparedInterface } from "../network/prepared-interface.ts";
import type { DomainTuning } from "../tuning/domain-tuning.ts";
import { isDomainAlive } from "./domain-phase.ts";
import type { InstanceAction, InstancePlan } from "./observed.ts";
import { planInstance } from "./plan.ts";

type Status = NonNullable<VirtualMachineInstance["status"]>;

export interface InstanceReconcilerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
  readonly hostArchitecture: string;
  readonly vmis: ObjectWriter<VirtualMachineInstance>;
  readonly launchers: Launchers;
  readonly network: GuestNetwork;
  readonly tuning: DomainTuning;
  readonly volumeMounts: VolumeMounts;
  /** What a launcher is told beside its VMI. */
  readonly syncOptions: (prepared: readonly PreparedInterface[]) => SyncOptions;
}

export interface InstanceReconciler {
  reconcile(key: string): Promise<ReconcileResult>;
}

/** What this process remembers of a VMI between rounds; lost in a restart without harm. */
interface Memory {
  readonly uid: string;
  syncedGeneration: number | undefined;
  prepared: readonly PreparedInterface[] | undefined;
  shutdownSent: boolean;
  /** Whether the machine's threads have been given their CPUs. */
  tuned: boolean;
}

/** Brings one VMI of this node and its launcher together, if and only if the VMI was handed over to this node. */
export function createInstanceReconciler(deps: InstanceReconcilerDeps): InstanceReconciler {
  return new Reconciler(deps);
}

/** Failures of a start that trying again does not mend. */
const hopelessCodes = ["HandlerLauncherFailed", "HandlerNetworkRefused"] as const;

class Reconciler implements InstanceReconciler {
  readonly #deps: InstanceReconcilerDeps;
  /** By namespace and name: what an earlier VMI of that name left is replaced. */
  readonly #memories = new Map<string, Memory>();

  constructor(deps: InstanceReconcilerDeps) {
    this.#deps = deps;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const vmi = this.#deps.vmis.get(key);
    await this.#endOrphans(key, vmi);
    if (vmi === undefined) this.#memories.delete(key);
    if (vmi === undefined || !this.#isOurs(vmi)) return {};
    const record = launcherOf(vmi, this.#deps.nodeName);
    if (record === undefined) return {};
    const known = this.#deps.launchers.known().some(({ uid }) => uid === record.uid);
    if (isFinal(vmi) && !known) return {};
    const launcher = await this.#deps.launchers.look(record);
    const memory = this.#memoryOf(record);
    const mountedVolumes = await this.#moveVolumes(vmi, record, launcher);
    const plan = planInstance({
      vmi,
      launcher: launcher.state,
      lostReason: launcher.lostReason,
      domain: launcher.domain,
      syncedGeneration: memory.syncedGeneration,
      prepared: memory.prepared,
      mountedVolumes,
      shutdownSent: memory.shutdownSent,
      hostArchitecture: this.#deps.hostArchitecture,
      now: new Date(this.#deps.clock.now()),
    });
    return this.#carryOut(vmi, record, launcher, plan);
  }

  /**
   * Gives volumes that have come to the launcher, and takes back those that the guest has let go; the plan then sees what
   * the launcher has. Undefined for a VMI without such volumes, and when nothing can be done about them any more.
   */
  async #moveVolumes(
    vmi: VirtualMachineInstance,
    { podUid }: GhostRecord,
    { domain, process }: LauncherView,
  ): Promise<ReadonlySet<string> | undefined> {
    const some = hotplugStatuses(vmi).length > 0 || (vmi.spec.volumes ?? []).some(isHotpluggable);
    if (!some || process === undefined || isFinal(vmi) || vmi.metadata.deletionTimestamp !== undefined)
      return undefined;
    const { volumeMounts } = this.#deps;
    const launcher = { podUid, process };
    try {
      const moves = planMoves(vmi, domain, volumeMounts.mounted(launcher));
      for (const volume of moves.unmount) volumeMounts.unmount(launcher, volume);
      for (const volume of moves.mount) volumeMounts.mount(launcher, volume);
      return volumeMounts.mounted(launcher);
    } catch (error) {
      await this.#reportSyncFailure(vmi, error, isDomainAlive(domain));
      throw error;
    }
  }

  /** virt-controller owns a VMI until it has handed it over to a node. */
  #isOurs(vmi: VirtualMachineInstance): boolean {
    const { phase, nodeName } = vmi.status ?? {};
    if (nodeName !== this.#deps.nodeName) return false;
    return phase === "Scheduled" || phase === "Running" || phase === "Unknown" || isFinal(vmi);
  }

  #memoryOf({ uid, namespace, name }: GhostRecord): Memory {
    const key = `${namespace}/${name}`;
    const known = this.#memories.get(key);
    if (known?.uid === uid) return known;
    const memory: Memory = { uid, syncedGeneration: undefined, prepared: undefined, shutdownSent: false, tuned: false };
    this.#memories.set(key, memory);
    return memory;
  }

  async #carryOut(
    vmi: VirtualMachineInstance,
    record: GhostRecord,
    launcher: LauncherView,
    plan: InstancePlan,
  ): Promise<ReconcileResult> {
    const current = plan.status === undefined ? vmi : await this.#deps.vmis.writeStatus(vmi, plan.status);
    for (const { type, reason, message } of plan.events) this.#deps.recorder.record(vmi, type, reason, message);
    this.#tune(current, launcher, this.#memoryOf(record));
    await this.#act(current, record, launcher, plan.action);
    return plan.requeueAfterMs === undefined ? {} : { requeueAfterMs: plan.requeueAfterMs };
  }

  /** Once for each machine: its threads do not change their purpose. A guest runs without it, only less isolated. */
  #tune(vmi: VirtualMachineInstance, { domain, process }: LauncherView, memory: Memory): void {
    if (memory.tuned || domain === undefined || !isDomainAlive(domain)) return;
    memory.tuned = true;
    try {
      this.#deps.tuning.handleHousekeeping(vmi, domain, process);
    } catch (error) {
      const message = `The guest's CPUs could not be kept for it alone: ${describeError(error)}`;
      this.#deps.recorder.record(vmi, "Warning", "FailedHousekeeping", message);
    }
  }

  async #act(
    vmi: VirtualMachineInstance,
    record: GhostRecord,
    launcher: LauncherView,
    action: InstanceAction,
  ): Promise<void> {
    const { commands, domain } = launcher;
    const memory = this.#memoryOf(record);
    switch (action.do) {
      case "nothing":
        return;
      case "sync":
        await this.#sync(vmi, record, launcher, memory);
        return;
      case "shutdown":
        await commands?.send("shutdown", vmi);
        memory.shutdownSent = true;
        return;
      case "kill":
        await commands?.send("kill", vmi);
        return;
      case "release":
        await this.#release(vmi, record, { commands, domain });
        return;
    }
  }

  async #sync(
    vmi: VirtualMachineInstance,
    { podUid }: GhostRecord,
    { commands, domain, process }: LauncherView,
    memory: Memory,
  ): Promise<void> {
    if (commands === undefined) return;
    try {
      this.#deps.tuning.adjustResources(vmi, process);
      const prepared = await this.#deps.network.prepare(vmi, podUid, process);
      memory.prepared = prepared;
      await commands.sync(vmi, this.#deps.syncOptions(prepared));
    } catch (error) {
      await this.#reportSyncFailure(vmi, error, isDomainAlive(domain));
      throw error;
    }
    const first = memory.syncedGeneration === undefined && domain === undefined;
    memory.syncedGeneration = vmi.metadata.generation;
    if (first) this.#deps.recorder.record(vmi, "Normal", "Created", "VirtualMachineInstance defined.");
    await this.#clearSyncFailure(vmi);
  }

  /** A machine that can never start ends the VMI; anything else is tried again and shown. */
  async #reportSyncFailure(vmi: VirtualMachineInstance, error: unknown, alive: boolean): Promise<void> {
    const message = describeError(error);
    this.#deps.recorder.record(vmi, "Warning", "SyncFailed", message);
    const at = new Date(this.#deps.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const condition = { type: conditionTypes.synchronized, status: "False" as const, reason: "SyncFailed", message };
    const status: Status = { ...vmi.status, conditions: withCondition(vmi.status?.conditions, condition, at) };
    const hopeless = hopelessCodes.some((code) => hasCode(error, code)) && !alive;
    const entry = { phase: "Failed" as const, phaseTransitionTimestamp: at };
    await this.#deps.vmis.writeStatus(
      vmi,
      hopeless
        ? {
            ...status,
            phase: "Failed",
            reason: "SyncFailed",
            phaseTransitionTimestamps: [...(status.phaseTransitionTimestamps ?? []), entry],
          }
        : status,
    );
  }

  async #clearSyncFailure(vmi: VirtualMachineInstance): Promise<void> {
    if (getCondition(vmi.status, conditionTypes.synchronized)?.reason !== "SyncFailed") return;
    const conditions = withoutCondition(vmi.status?.conditions, conditionTypes.synchronized);
    await this.#deps.vmis.writeStatus(vmi, { ...vmi.status, conditions });
  }

  /** Lets the launcher forget the machine, so that it can leave, and lets go of the launcher. */
  async #release(
    vmi: VirtualMachineInstance,
    record: GhostRecord,
    { commands, domain }: Pick<LauncherView, "commands" | "domain">,
  ): Promise<void> {
    try {
      if (isDomainAlive(domain)) await commands?.send("kill", vmi);
      await commands?.send("delete", vmi);
    } catch (error) {
      // It is on its way out already, or virt-controller deletes its pod.
      this.#deps.logger.debug("a launcher was released without its answer", { error: describeError(error) });
    }
    this.#memories.delete(`${record.namespace}/${record.name}`);
    this.#deps.network.forget(record.podUid);
    await this.#deps.launchers.forget(record.uid);
  }

  /** Launchers whose VMI does not exist any more, or exists again under the same name as another one. */
  async #endOrphans(key: string, vmi: VirtualMachineInstance | undefined): Promise<void> {
    for (const record of this.#deps.launchers.known()) {
      if (`${record.namespace}/${record.name}` !== key || record.uid === vmi?.metadata.uid) continue;
      this.#deps.logger.warn("ending a launcher whose VMI is gone", { vmi: key, uid: record.uid });
      const launcher = await this.#deps.launchers.look(record);
      const { uid, name, namespace } = record;
      const identity: VirtualMachineInstance = {
        metadata: { uid, name, namespace },
        spec: { domain: { devices: {} } },
      };
      await this.#release(identity, record, launcher);
    }
  }
}
