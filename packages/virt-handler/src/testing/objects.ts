/** Objects for this package's tests. */
import type { VirtualMachineInstance } from "@polyvirt/api";
import type { DomainDocument, DomainReason, DomainState } from "@polyvirt/protocol";

export const NODE = "node-1";
export const VMI_UID = "11111111-2222-3333-4444-555555555555";
/** Short, because the path of a unix socket may have 107 bytes and tests use it as it is. */
export const POD_UID = "pod-1";

type Status = NonNullable<VirtualMachineInstance["status"]>;

export function vmiWith(
  status: Status = { phase: "Scheduled" },
  metadata: Partial<VirtualMachineInstance["metadata"]> = {},
): VirtualMachineInstance {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "hello", namespace: "default", uid: VMI_UID, resourceVersion: "7", generation: 1, ...metadata },
    spec: { domain: { devices: {} } },
    status: { nodeName: NODE, activePods: { [POD_UID]: NODE }, ...status },
  };
}

export function domainWith(state: DomainState, reason: DomainReason = "Unknown", message?: string): DomainDocument {
  return {
    kind: "Domain",
    apiVersion: "kubevirt.io/v1",
    ObjectMeta: { name: "hello", namespace: "default", uid: VMI_UID },
    Spec: { Name: "default_hello" },
    Status: { Status: state, Reason: reason },
    ...(message === undefined ? {} : { message }),
  };
}
