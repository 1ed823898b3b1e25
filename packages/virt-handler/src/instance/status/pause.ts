import { conditionTypes, withoutCondition } from "@polyvirt/api";
import { pauseOf } from "../domain-phase.ts";
import { setCondition, type StatusPart } from "./status-part.ts";

export const pausePart: StatusPart = (status, { domain, now }) => {
  const pause = pauseOf(domain);
  if (pause !== undefined) return setCondition(status, { type: conditionTypes.paused, status: "True", ...pause }, now);
  if (!status.conditions?.some(({ type }) => type === conditionTypes.paused)) return status;
  return { ...status, conditions: withoutCondition(status.conditions, conditionTypes.paused) };
};
