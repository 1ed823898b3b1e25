import { isRunning, type VirtualMachineInstance } from "@polyvirt/api";
import type { Clock } from "@polyvirt/core";
import type { ObjectWriter, ReconcileResult } from "@polyvirt/kube";
import { launcherOf, type Launchers } from "../launcher/launchers.ts";
import { withGuestInfo } from "./guest-status.ts";

export interface GuestPollerDeps {
  readonly clock: Clock;
  readonly nodeName: string;
  readonly vmis: ObjectWriter<VirtualMachineInstance>;
  readonly launchers: Pick<Launchers, "look">;
}

const WITH_AGENT_MS = 15_000;
/** A guest that boots is asked soon; one that has had time and shows no agent, seldom. */
const BOOTING_MS = 5_000;
const WITHOUT_AGENT_MS = 60_000;
const BOOT_TIME_MS = 120_000;

/** Asks running guests about themselves, apart from everything else: a slow or lying guest delays nothing. */
export function createGuestPoller(deps: GuestPollerDeps): { poll(key: string): Promise<ReconcileResult> } {
  return {
    async poll(key) {
      const vmi = deps.vmis.get(key);
      if (vmi === undefined || !isRunning(vmi)) return {};
      const record = launcherOf(vmi, deps.nodeName);
      if (record === undefined) return {};
      const { commands } = await deps.launchers.look(record);
      if (commands === undefined) return {};
      const info = await commands.getGuestInfo();
      const vmm = vmi.status?.vmm ?? (await commands.getVmm());
      const now = new Date(deps.clock.now());
      await deps.vmis.writeStatus(vmi, { ...withGuestInfo(vmi, info, now), vmm });
      if (info.connected) return { requeueAfterMs: WITH_AGENT_MS };
      return { requeueAfterMs: runningForMs(vmi, now) < BOOT_TIME_MS ? BOOTING_MS : WITHOUT_AGENT_MS };
    },
  };
}

function runningForMs({ status }: VirtualMachineInstance, now: Date): number {
  const entry = status?.phaseTransitionTimestamps?.findLast(({ phase }) => phase === "Running");
  return now.getTime() - (Date.parse(entry?.phaseTransitionTimestamp ?? "") || 0);
}
