import { withCondition, type VirtualMachineInstance } from "@polyvirt/api";
import type { Condition } from "@polyvirt/api/k8s";
import type { ObservedInstance } from "../observed.ts";

export type Status = NonNullable<VirtualMachineInstance["status"]>;

/** One thing that a machine tells about itself: completes its share of the VMI's status. */
export type StatusPart = (status: Status, observed: ObservedInstance) => Status;

export function setCondition(status: Status, condition: Condition, now: Date): Status {
  return { ...status, conditions: withCondition(status.conditions, condition, timestamp(now)) };
}

/** Kubernetes' times have no fractions of a second. */
export function timestamp(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}
