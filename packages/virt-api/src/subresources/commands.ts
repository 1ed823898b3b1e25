import { conditionTypes, isConditionTrue, type VirtualMachineInstance } from "@polyvirt/api";
import { Refusal } from "../server/status.ts";

type Check = (vmi: VirtualMachineInstance) => void;

const isPaused = ({ status }: VirtualMachineInstance): boolean => isConditionTrue(status, conditionTypes.paused);

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
  softreboot(vmi) {
    if (isPaused(vmi)) throw new Refusal(409, "VMI is paused");
    // A guest is asked by its agent or by the power button, and one without either hears nothing.
    const agent = isConditionTrue(vmi.status, conditionTypes.agentConnected);
    const powerButton = vmi.spec.domain.features?.acpi?.enabled !== false;
    if (!agent && !powerButton) throw new Refusal(409, "VMI does not have guest agent connected");
  },
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
