import type { Condition } from "./k8s/meta.ts";

interface HasConditions {
  conditions?: Condition[];
}

export function getCondition(status: HasConditions | undefined, type: string): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(status: HasConditions | undefined, type: string): boolean {
  return getCondition(status, type)?.status === "True";
}

/**
 * The list with this condition in it. `at` (RFC 3339) becomes the transition time only when the status changes, so that
 * setting the same condition again yields an equal list.
 */
export function withCondition(conditions: readonly Condition[] | undefined, next: Condition, at: string): Condition[] {
  const list = conditions ?? [];
  const previous = list.find((condition) => condition.type === next.type);
  const lastTransitionTime =
    previous?.status === next.status && previous.lastTransitionTime !== undefined ? previous.lastTransitionTime : at;
  const updated: Condition = { ...next, lastTransitionTime };
  if (previous === undefined) return [...list, updated];
  return list.map((condition) => (condition === previous ? updated : condition));
}

export function withoutCondition(conditions: readonly Condition[] | undefined, type: string): Condition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
