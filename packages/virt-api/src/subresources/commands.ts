import { conditionTypes, isConditionTrue, type VirtualMachineInstance } from "@polyvirt/api";
import { Refusal } from "../server/status.ts";

type Check = (vmi: VirtualMachineInstance) => void;

const isPaused = ({ status }: VirtualMachineInstance): boolean => isConditionTrue(status, conditionTypes.paused);

/** What only the guest's agent can do. */
export function checkAgent({ status }: VirtualMachineInstance): void {
  if (isConditionTrue(status, conditionTypes.agentConnected)) return;
  throw new Refusal(409, "VMI does not have guest agent connected");
}

/** The agent of a guest that stands still answers nothing. */
function checkAwakeAgent(vmi: VirtualMachineInstance): void {
  if (isPaused(vmi)) throw new Refusal(409, "VMI is paused");
  checkAgent(vmi);
}

/** Commands that wait for every write of the guest to reach its disks. */
export const slowCommands: ReadonlySet<string> = new Set(["freeze", "unfreeze"]);

/** What must hold before a command is passed on to the guest's node; virt-handler does the rest. */
const commandChecks: Readonly<Record<string, Check>> = {
  pause(vmi) {
    if (vmi.spec.livenessProbe !== undefined) {
      throw new Refusal(403, "Pausing VMIs with LivenessProbe is currently not supported");
    }
    if (isPaused(vmi)) throw new Refusal(409, "VMI is already paused");
  },
  unpause(vmi) {
    if (!isPaused(vmi)) throw new Refusal(409, "VMI is not paused");
  },
  softreboot: checkAwakeAgent,
  freeze: checkAwakeAgent,
  unfreeze: checkAwakeAgent,
  reset() {
    // Any running guest can be reset.
  },
};

/** Whether this command makes sense for the VMI now. */
export function checkCommand(name: string, vmi: VirtualMachineInstance): void {
  const check = commandChecks[name];
  if (check === undefined) throw new Refusal(501, `virtualmachineinstances/${name} is not served by this version`);
  if (vmi.status?.phase !== "Running") throw new Refusal(409, "VMI is not running");
  check(vmi);
}
