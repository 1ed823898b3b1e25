import type { ManagedFieldsEntry } from "@polyvirt/api/k8s";

import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "../registry/resource.ts";
import { decodeManagers, encodeManagers, findManager, ownable } from "./managers.ts";
import { FieldSet } from "./field-set.ts";
import { rootSchema } from "./root-schema.ts";
import { zeroObject } from "../schema/zero-values.ts";
import { compareValues } from "./typed-value.ts";

interface Update {
  readonly resource: Resource;
  readonly old: ApiObject | undefined;
  readonly object: ApiObject;
  readonly manager: string;
  readonly now: string;
  readonly subresource: string;
}

/** Records in `object` who owns which field after a plain write: the writer owns what it changed, others lose it. */
export function trackUpdate({ resource, old, object, manager, now, subresource }: Update): void {
  if (isReset(object.metadata.managedFields)) {
    delete object.metadata.managedFields;
    return;
  }
  // Once forgotten, owners are recorded again when somebody applies.
  const isForgotten = old !== undefined && (old.metadata.managedFields ?? []).length === 0;
  if (isForgotten && (object.metadata.managedFields ?? []).length === 0) return;
  const known = decodeManagers(
    subresource === "" ? (object.metadata.managedFields ?? old?.metadata.managedFields) : old?.metadata.managedFields,
  );
  const comparison = compareValues(old ?? emptyObject(resource), object, rootSchema(resource));
  const changed = comparison.added.union(comparison.modified);
  const hasStatus = resource.subresources.has("status");
  const identity = { manager, operation: "Update", apiVersion: resource.apiVersion, subresource } as const;
  let own = findManager(known, identity);
  for (const other of known) {
    if (other !== own) other.fields = other.fields.difference(changed);
    other.fields = other.fields.difference(comparison.removed);
  }
  const gained = ownable(changed, subresource, hasStatus && subresource === "");
  if (!gained.isEmpty()) {
    if (own === undefined) {
      own = { ...identity, time: now, fields: new FieldSet() };
      known.push(own);
    }
    own.fields = own.fields.union(gained);
    own.time = now;
  }
  const entries = encodeManagers(known);
  if (entries.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = entries;
}

/** One empty entry is how a client asks to forget all owners. */
function isReset(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  return entries?.length === 1 && entries[0] !== undefined && Object.keys(entries[0]).length === 0;
}

/** What a new object is compared with: the parts that every object of a built-in kind has. */
function emptyObject(resource: Resource): ApiObject {
  const base: ApiObject = { apiVersion: resource.apiVersion, kind: resource.kind, metadata: {} };
  return resource.typed ? { ...base, ...zeroObject(resource.definitionName) } : base;
}
