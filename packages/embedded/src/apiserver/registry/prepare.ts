import { fieldError, invalid, type FieldError } from "../http/status-error.ts";
import { copyJson, deepEqual, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { applySchemaDefaults } from "../schema/structural.ts";
import { validateValue } from "../schema/validate.ts";
import { fillZeroValues } from "../schema/zero-values.ts";
import { validateMetadata } from "./object-names.ts";
import { missingFields } from "./required-fields.ts";
import type { Resource } from "./resource.ts";

/** Fills in what users may leave out: by the kind's own rules, or by the defaults in a custom resource's schema. */
function applyDefaults(resource: Resource, object: ApiObject): void {
  if (resource.typed) resource.strategy.applyDefaults?.(object);
  else applySchemaDefaults(object, resource.schema);
}

/** What the server itself decides about an object is not the client's to say; what it leaves out is filled in. */
export function completeNew(resource: Resource, object: ApiObject, namespace: string): void {
  const { metadata } = object;
  for (const key of serverKeys) delete metadata[key];
  if (resource.namespaced) metadata.namespace = namespace;
  else delete metadata.namespace;
  applyDefaults(resource, object);
}

/** After admission, which sees an object without identity and may have added what is not its own to decide. */
export function prepareCreate(
  resource: Resource,
  object: ApiObject,
  facts: { readonly uid: string; readonly now: string },
): void {
  const { metadata } = object;
  metadata.uid = facts.uid;
  metadata.creationTimestamp = facts.now;
  if (countsGenerations(resource)) metadata.generation = 1;
  if (resource.subresources.has("status")) delete object["status"];
  applyDefaults(resource, object);
  resource.strategy.prepareCreate?.(object);
  if (resource.typed) fillZeroValues(object, resource.definitionName);
}

/** What a writer may not change is put back: identity, the server's own fields, and the part that is not being written. */
export function prepareUpdate(resource: Resource, object: ApiObject, old: ApiObject, subresource: string): ApiObject {
  if (subresource === "status") return prepareStatusUpdate(object, old);
  const metadata = { ...object.metadata, ...serverFields(old) };
  for (const key of ["deletionTimestamp", "deletionGracePeriodSeconds", "generation"] as const) {
    if (old.metadata[key] === undefined) delete metadata[key];
  }
  const result: ApiObject = { ...object, metadata };
  // A scheduler's decision sets the node and the condition that says so, in one write.
  if (subresource === "binding") return result;
  if (resource.subresources.has("status")) {
    if (old["status"] === undefined) delete result["status"];
    else result["status"] = old["status"];
  }
  if (subresource === "finalize") return { ...old, spec: object["spec"] };
  applyDefaults(resource, result);
  resource.strategy.prepareUpdate?.(result, old);
  if (countsGenerations(resource) && !deepEqual(specified(resource, result), specified(resource, old))) {
    result.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  return result;
}

function prepareStatusUpdate(object: ApiObject, old: ApiObject): ApiObject {
  const result: ApiObject = { ...old, metadata: { ...old.metadata } };
  const fields = object.metadata.managedFields;
  if (fields !== undefined) result.metadata.managedFields = fields;
  if (object["status"] === undefined) delete result["status"];
  else result["status"] = copyJson(object["status"]);
  return result;
}

const serverKeys = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "resourceVersion",
] as const;

function serverFields({ metadata }: ApiObject): JsonObject {
  const kept = ["name", "namespace", ...serverKeys] as const;
  return Object.fromEntries(kept.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]])));
}

/** The part of an object whose changes `generation` counts. */
function specified(resource: Resource, object: ApiObject): JsonObject {
  const { metadata, status, ...rest } = object;
  if (resource.strategy.countsGenerations === "with annotations") return { ...rest, annotations: metadata.annotations };
  return resource.typed || resource.subresources.has("status") ? rest : { ...rest, status };
}

/** Custom resources always count. */
const countsGenerations = ({ strategy, typed }: Resource): boolean =>
  !typed || (strategy.countsGenerations ?? false) !== false;

export function validateObject(
  resource: Resource,
  object: ApiObject,
  old: ApiObject | undefined,
  warn: (message: string) => void,
): void {
  const { strategy } = resource;
  const found: FieldError[] = [
    ...validateMetadata(object.metadata, strategy.nameRule ?? "subdomain"),
    ...(resource.typed
      ? missingFields(object, resource.schema, strategy.optional)
      : validateValue(object, resource.schema, "")),
    ...(strategy.validate?.(object, old) ?? []),
    ...(resource.typed && resource.group !== "apiextensions.k8s.io" ? unqualifiedFinalizers(object) : []),
    ...(old === undefined ? [] : validateFinalizers(object, old)),
  ];
  // Rules may rely on the schema's types and limits, so they only see what keeps them.
  if (!found.some(({ reason }) => blocksRules.has(reason)) && resource.rules !== undefined) {
    const { errors, warnings } = resource.rules().validate(object, old);
    found.push(...errors);
    for (const warning of warnings) warn(warning);
  } else if (resource.rules !== undefined) {
    found.push(uncheckedRules);
  }
  if (found.length === 0) return;
  throw invalid(resource, object.metadata.name ?? "", withoutRepeats(found));
}

const blocksRules: ReadonlySet<string> = new Set([
  "FieldValueRequired",
  "FieldValueTypeInvalid",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
]);

const uncheckedRules: FieldError = {
  field: "<nil>",
  reason: "FieldValueInvalid",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

/** The generic check and a kind's own may find the same gap. */
function withoutRepeats(found: readonly FieldError[]): FieldError[] {
  const isGap = ({ reason }: FieldError): boolean => reason === "FieldValueRequired";
  const gaps = found.filter(isGap);
  return found.filter((error) => !isGap(error) || gaps.find(({ field }) => field === error.field) === error);
}

const standardFinalizers: ReadonlySet<string> = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

/** Finalizers of built-in kinds carry their maker's domain; custom resources and their definitions are free in that. */
function unqualifiedFinalizers({ metadata }: ApiObject): FieldError[] {
  const detail = "name is neither a standard finalizer name nor is it fully qualified";
  return (metadata.finalizers ?? []).flatMap((finalizer, index) =>
    finalizer.includes("/") || standardFinalizers.has(finalizer)
      ? []
      : [fieldError.invalid(`metadata.finalizers[${index}]`, finalizer, detail)],
  );
}

function validateFinalizers(object: ApiObject, old: ApiObject): FieldError[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const before = new Set(old.metadata.finalizers ?? []);
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
  return [
    fieldError.forbidden(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
}
