import { StatusError } from "../http/status-error.ts";
import { copyJson } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "../registry/resource.ts";
import { describePath, FieldSet } from "./field-set.ts";
import { decodeManagers, encodeManagers, findManager, ownable, type Manager } from "./managers.ts";
import { rootSchema } from "./root-schema.ts";
import { compareValues, fieldsOf, mergeValues, removeFields } from "./typed-value.ts";

interface Application {
  readonly resource: Resource;
  readonly live: ApiObject;
  /** What the client sent: only the fields it has an opinion about. */
  readonly applied: ApiObject;
  readonly manager: string;
  readonly force: boolean;
  readonly now: string;
  readonly subresource: string;
}

/**
 * Server-side apply: the live object with the applied fields in it, without the fields that this manager applied earlier,
 * no longer applies and nobody else owns. Fields that others own with another value are a conflict unless forced.
 */
export function applyConfiguration(application: Application): ApiObject {
  const { resource, live, applied, manager, force, now, subresource } = application;
  const schema = rootSchema(resource);
  const managers = decodeManagers(live.metadata.managedFields);
  if (managers.length === 0 && live.metadata.uid !== undefined) managers.push(formerOwner(application));
  const identity = { manager, operation: "Apply", apiVersion: resource.apiVersion, subresource } as const;
  const previous = findManager(managers, identity);
  const before = previous?.fields ?? new FieldSet();
  const fields = ownable(fieldsOf(applied, schema), subresource, resource.subresources.has("status"));
  const merged = mergeValues(live, applied, schema);
  const others = managers.filter((other) => other !== previous);
  const stillOwned = others.reduce((set, other) => set.union(other.fields), fields);
  const pruned = removeFields(merged, schema, before.difference(stillOwned), stillOwned) as ApiObject;
  const comparison = compareValues(live, pruned, schema);
  const changed = comparison.added.union(comparison.modified);
  resolveConflicts(others, changed, force);
  for (const other of others) other.fields = other.fields.difference(comparison.removed);
  const unchanged = previous !== undefined && previous.fields.equals(fields);
  const own: Manager = { ...identity, fields, time: unchanged ? previous.time : now };
  const result = copyJson(pruned);
  result.metadata = { ...result.metadata, managedFields: encodeManagers([...others, own]) };
  return result;
}

/** What nobody owned when somebody applied for the first time belongs to those who wrote it before. */
function formerOwner({ resource, live, now }: Application): Manager {
  const nothing: ApiObject = { apiVersion: resource.apiVersion, kind: resource.kind, metadata: {} };
  const { added } = compareValues(nothing, live, rootSchema(resource));
  const fields = ownable(added, "", resource.subresources.has("status"));
  const identity = { manager: "before-first-apply", operation: "Update", subresource: "" } as const;
  return { ...identity, apiVersion: resource.apiVersion, time: now, fields };
}

function resolveConflicts(others: readonly Manager[], changed: FieldSet, force: boolean): void {
  const conflicts = others.flatMap((other) => {
    const overlap = other.fields.intersection(changed);
    return overlap.isEmpty() ? [] : [{ other, overlap }];
  });
  if (conflicts.length === 0) return;
  if (!force) throw conflictError(conflicts);
  for (const { other, overlap } of conflicts) other.fields = other.fields.difference(overlap);
}

function conflictError(conflicts: readonly { other: Manager; overlap: FieldSet }[]): StatusError {
  const causes = conflicts.flatMap(({ other, overlap }) =>
    [...overlap.paths()].map((path) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${describeManager(other)}`,
      field: describePath(path),
    })),
  );
  const byMessage = new Map<string, string[]>();
  for (const { message, field } of causes) byMessage.set(message, [...(byMessage.get(message) ?? []), field]);
  const count = `Apply failed with ${causes.length} conflict${causes.length === 1 ? "" : "s"}: `;
  const texts = [...byMessage].map(([message, fields]) =>
    fields.length === 1
      ? `${message}: ${fields[0]}`
      : `${message.replace("conflict with", "conflicts with")}:\n${fields.map((field) => `- ${field}`).join("\n")}`,
  );
  return new StatusError(409, "Conflict", `${count}${texts.join("\n")}`, { causes });
}

function describeManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = `${JSON.stringify(manager)}${subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
