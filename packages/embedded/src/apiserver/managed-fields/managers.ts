import type { ManagedFieldsEntry } from "@polyvirt/api/k8s";

import { FieldSet } from "./field-set.ts";

/** One owner of fields: a client by name, the way it writes, and the subresource it writes through. */
export interface Manager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  time: string;
  fields: FieldSet;
}

export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): Manager[] {
  return (entries ?? []).map((entry) => ({
    manager: entry.manager ?? "",
    operation: entry.operation ?? "Update",
    apiVersion: entry.apiVersion ?? "",
    subresource: entry.subresource ?? "",
    time: entry.time ?? "",
    fields: FieldSet.fromJson(entry.fieldsV1),
  }));
}

const maxUpdaters = 10;

export function encodeManagers(managers: readonly Manager[]): ManagedFieldsEntry[] {
  return squash(managers.filter((manager) => !manager.fields.isEmpty()))
    .sort(byOperationAndTime)
    .map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === "" ? {} : { time }),
      fieldsType: "FieldsV1",
      fieldsV1: fields.toJson(),
      ...(subresource === "" ? {} : { subresource }),
    }));
}

function byOperationAndTime(left: Manager, right: Manager): number {
  if (left.operation !== right.operation) return left.operation === "Apply" ? -1 : 1;
  if (left.time !== right.time) return left.time < right.time ? -1 : 1;
  return left.manager < right.manager ? -1 : left.manager > right.manager ? 1 : 0;
}

/** Keeps the list short: the oldest writers become one. */
function squash(managers: Manager[]): Manager[] {
  const updaters = managers.filter((manager) => manager.operation === "Update").sort(byOperationAndTime);
  if (updaters.length <= maxUpdaters) return managers;
  const old = updaters.slice(0, updaters.length - maxUpdaters + 1);
  const first = old[0];
  if (first === undefined) return managers;
  const fields = old.reduce((set, manager) => set.union(manager.fields), new FieldSet());
  return [...managers.filter((manager) => !old.includes(manager)), { ...first, manager: "ancient-changes", fields }];
}

const isSame = (left: Omit<Manager, "time" | "fields">, right: Omit<Manager, "time" | "fields">): boolean =>
  left.manager === right.manager &&
  left.operation === right.operation &&
  left.subresource === right.subresource &&
  (left.operation === "Apply" || left.apiVersion === right.apiVersion);

export const findManager = (
  managers: readonly Manager[],
  wanted: Omit<Manager, "time" | "fields">,
): Manager | undefined => managers.find((manager) => isSame(manager, wanted));

/** Nobody owns what identifies an object or what the server itself keeps. */
const unowned = FieldSet.fromJson({
  "f:apiVersion": {},
  "f:kind": {},
  "f:metadata": {
    "f:name": {},
    "f:namespace": {},
    "f:creationTimestamp": {},
    "f:selfLink": {},
    "f:uid": {},
    "f:generation": {},
    "f:managedFields": {},
    "f:resourceVersion": {},
    "f:deletionTimestamp": {},
    "f:deletionGracePeriodSeconds": {},
  },
});

/** What a writer through this subresource can own. */
export function ownable(fields: FieldSet, subresource: string, hasStatus: boolean): FieldSet {
  const result = fields.withoutBelow(unowned);
  result.member = false;
  const metadata = result.children.get("f:metadata");
  if (metadata !== undefined) metadata.member = false;
  if (subresource === "" && hasStatus) result.children.delete("f:status");
  return result;
}
