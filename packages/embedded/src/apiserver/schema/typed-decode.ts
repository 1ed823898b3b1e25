import { formatQuantity, isQuantity, parseQuantity } from "@polyvirt/core";

import { isJsonObject, setOwn, type JsonObject } from "../json.ts";
import { badRequest } from "../http/status-error.ts";
import { preservesUnknown, propertySchema, quantityName, resolve, type Schema } from "./schema.ts";

/**
 * Reads a JSON value as a built-in kind, the way Kubernetes' typed decoder does: unknown fields are left out and
 * reported, nulls and empty lists and maps are left out, quantities become canonical, a wrong type is an error.
 */
export function decodeTyped(
  value: JsonObject,
  kind: { readonly apiVersion: string; readonly kind: string },
  schema: Schema,
  { onUnknown, keepsEmpty = false }: DecodeOptions,
): JsonObject {
  const decoder: Decoder = {
    onUnknown,
    keepsEmpty,
    what: `${kind.kind} in version ${JSON.stringify(kind.apiVersion)} cannot be handled as a ${kind.kind}`,
  };
  // The root of a kind is an object, so the result is one.
  return decodeValue(value, schema, { path: "", struct: kind.kind, structPath: "" }, decoder) as JsonObject;
}

interface DecodeOptions {
  readonly onUnknown: (path: string) => void;
  /** For configurations that are applied: there an empty list or map is something that its owner said. */
  readonly keepsEmpty?: boolean;
}

interface Decoder extends Required<DecodeOptions> {
  readonly what: string;
}

interface Place {
  /** `spec.containers[0].ports` */
  readonly path: string;
  /** Go's name of the struct around the field, for the wording of type errors. */
  readonly struct: string;
  /** `spec.containers.ports` */
  readonly structPath: string;
}

function decodeValue(value: unknown, reference: Schema, place: Place, decoder: Decoder): unknown {
  const schema = resolve(reference);
  if (reference.$ref === quantityName) return decodeQuantity(value, place, decoder);
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (typeof value === "string" || Number.isInteger(value)) return value;
    throw mismatch(value, "intstr.IntOrString", place, decoder);
  }
  switch (schema.type) {
    case "object":
      return decodeObject(value, schema, structName(reference) ?? place.struct, place, decoder);
    case "array":
      return decodeArray(value, schema, place, decoder);
    case "string":
      if (typeof value !== "string") throw mismatch(value, "string", place, decoder);
      if (schema.format === "byte") checkBase64(value, decoder);
      if (schema.format === "date-time") checkTime(value, decoder);
      return value;
    case "boolean":
      if (typeof value !== "boolean") throw mismatch(value, "bool", place, decoder);
      return value;
    case "integer":
      if (!Number.isInteger(value)) throw mismatch(value, schema.format ?? "int64", place, decoder);
      return value;
    case "number":
      if (typeof value !== "number") throw mismatch(value, "float64", place, decoder);
      return value;
    case undefined:
    default:
      return value;
  }
}

function decodeObject(value: unknown, schema: Schema, struct: string, place: Place, decoder: Decoder): unknown {
  if (!isJsonObject(value)) {
    const target = schema.properties === undefined ? "map[string]interface {}" : `v1.${struct}`;
    throw mismatch(value, target, place, decoder);
  }
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const child = propertySchema(schema, key);
    const path = place.path === "" ? key : `${place.path}.${key}`;
    if (child === undefined) {
      if (preservesUnknown(schema)) setOwn(result, key, item);
      else decoder.onUnknown(path);
      continue;
    }
    if (item === null) continue;
    // Go names the field that holds a map, not the key in it.
    const isField = schema.properties !== undefined && Object.hasOwn(schema.properties, key);
    const structPath = !isField ? place.structPath : place.structPath === "" ? key : `${place.structPath}.${key}`;
    const decoded = decodeValue(item, child, { path, struct, structPath }, decoder);
    if (decoder.keepsEmpty || !isEmptyCollection(decoded, child)) setOwn(result, key, decoded);
  }
  return result;
}

/** Lists and maps without content are as good as absent in Kubernetes' own types; an empty struct is not. */
function isEmptyCollection(value: unknown, reference: Schema): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isJsonObject(value) || Object.keys(value).length > 0) return false;
  return isJsonObject(resolve(reference).additionalProperties);
}

function decodeArray(value: unknown, schema: Schema, place: Place, decoder: Decoder): unknown {
  if (!Array.isArray(value)) throw mismatch(value, `[]${goType(schema.items)}`, place, decoder);
  const items = schema.items ?? {};
  return value.map((item, index) =>
    decodeValue(item ?? zeroOf(items), items, { ...place, path: `${place.path}[${index}]` }, decoder),
  );
}

function decodeQuantity(value: unknown, place: Place, decoder: Decoder): string {
  if (typeof value !== "string" && typeof value !== "number")
    throw mismatch(value, "resource.Quantity", place, decoder);
  if (isQuantity(String(value))) return formatQuantity(parseQuantity(String(value)));
  throw badRequest(
    `${decoder.what}: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  );
}

/** A null in a list stands for the item type's empty value. */
function zeroOf(reference: Schema): unknown {
  const { type } = resolve(reference);
  const zeros: Record<string, unknown> = { string: "", integer: 0, number: 0, boolean: false, array: [] };
  return type !== undefined && Object.hasOwn(zeros, type) ? zeros[type] : {};
}

function structName(reference: Schema): string | undefined {
  return reference.$ref?.split(".").at(-1);
}

function goType(reference: Schema | undefined): string {
  if (reference === undefined) return "interface {}";
  const name = structName(reference);
  if (name !== undefined) return `v1.${name}`;
  const names: Record<string, string> = { string: "string", boolean: "bool", integer: reference.format ?? "int64" };
  return names[reference.type ?? ""] ?? "interface {}";
}

function mismatch(value: unknown, target: string, place: Place, decoder: Decoder): Error {
  const found = Array.isArray(value)
    ? "array"
    : typeof value === "boolean"
      ? "bool"
      : typeof value === "number" && !Number.isInteger(value)
        ? `number ${value}`
        : typeof value;
  return badRequest(
    `${decoder.what}: json: cannot unmarshal ${found} into Go struct field ${place.struct}.${place.structPath} of type ${target}`,
  );
}

function checkBase64(value: string, decoder: Decoder): void {
  const bad = /[^A-Za-z0-9+/=\r\n]/.exec(value);
  const clean = value.replace(/[\r\n]/g, "");
  if (bad === null && clean.length % 4 === 0) return;
  throw badRequest(
    `${decoder.what}: illegal base64 data at input byte ${bad?.index ?? clean.length - (clean.length % 4)}`,
  );
}

function checkTime(value: string, decoder: Decoder): void {
  if (
    /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
    return;
  throw badRequest(
    `${decoder.what}: parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse it`,
  );
}
