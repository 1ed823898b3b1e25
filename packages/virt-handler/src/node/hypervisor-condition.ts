import type { Condition } from "@polyvirt/api/k8s";
import type { KernelTree } from "@polyvirt/host";
import type { Capabilities } from "./labeller/capabilities-export.ts";

/** On the node: whether guests can run on its hypervisor, and if not, why. */
const hypervisorConditionType = "KubeVirtHypervisorDeviceUsable";

/** Judged by a guest that has really run: a device node that opens may still be good for nothing. */
export function hypervisorCondition(
  device: string,
  native: Capabilities | undefined,
  dev: KernelTree,
): Pick<Condition, "type" | "status" | "reason" | "message"> {
  const type = hypervisorConditionType;
  const path = `/dev/${device}`;
  if (!dev.exists(device)) {
    return { type, status: "False", reason: "DeviceMissing", message: `${path} does not exist on this node` };
  }
  const probe = native?.hypervisorDevice;
  if (probe === undefined || probe.path !== path) {
    return { type, status: "Unknown", reason: "NotProbed", message: `no launcher has tried to run a guest on ${path}` };
  }
  if (probe.usable) {
    const message = `a guest ran on ${path} and ended after ${probe.probeMilliseconds} ms`;
    return { type, status: "True", reason: "GuestRan", message };
  }
  if (Number(probe.probeMilliseconds) === 0) {
    // The device may have come since, or what was missing to try it.
    const message = `no guest was tried on ${path} (${probe.reason}); restart this node's virt-handler to try again`;
    return { type, status: "Unknown", reason: "NotProbed", message };
  }
  return { type, status: "False", reason: "ProbeFailed", message: `${path} is of no use: ${probe.reason}` };
}
