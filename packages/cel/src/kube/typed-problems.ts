import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from "@polyvirt/core";
import { valuesSchema, type StructuralSchema } from "./structural-schema.ts";

/** What keeps a value from being one of its schema, in the words of server-side apply: `.spec.x: field not declared in schema`. */
export function typedProblems(value: JsonValue, schema: StructuralSchema | undefined, path = ""): string[] {
  if (schema === undefined || value === null || takesNumbersAndText(schema)) return [];
  const expected = expectations[schema.type ?? ""];
  if (expected !== undefined && !expected.fits(value)) return [`${path}: expected ${expected.says(value)}`];
  if (Array.isArray(value)) return listProblems(value, schema, path);
  return isJsonObject(value) ? mapProblems(value, schema, path) : [];
}

const takesNumbersAndText = (schema: StructuralSchema): boolean =>
  schema["x-kubernetes-int-or-string"] === true || schema.format === "int-or-string";

interface Expectation {
  readonly fits: (value: JsonValue) => boolean;
  /** What was expected and what is there, which Kubernetes prints as Go does. */
  readonly says: (value: JsonValue) => string;
}

const isNumber = (value: JsonValue): boolean => typeof value === "number" || typeof value === "bigint";
const numeric: Expectation = { fits: isNumber, says: (value) => `numeric (int or float), got ${goType(value)}` };

const expectations: Readonly<Record<string, Expectation>> = {
  integer: numeric,
  number: numeric,
  string: {
    fits: (value) => typeof value === "string",
    says: (value) => `string, got &value.valueUnstructured{Value:${goSyntax(value)}}`,
  },
  boolean: { fits: (value) => typeof value === "boolean", says: (value) => `boolean, got &{${goText(value)}}` },
  array: { fits: (value) => Array.isArray(value), says: (value) => `list, got &{${goText(value)}}` },
  object: { fits: isJsonObject, says: (value) => `map, got &{${goText(value)}}` },
};

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  return typeof value === "boolean" ? "bool" : "string";
}

/** As `%#v` writes it. */
function goSyntax(value: JsonValue): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(", ")}}`;
  if (!isJsonObject(value)) return value === null ? "interface {}(nil)" : JSON.stringify(value);
  const fields = sortedFields(value).map(([name, item]) => `${JSON.stringify(name)}:${goSyntax(item)}`);
  return `map[string]interface {}{${fields.join(", ")}}`;
}

/** As `%v` writes it. */
function goText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isJsonObject(value)) return value === null ? "<nil>" : String(value);
  return `map[${sortedFields(value)
    .map(([name, item]) => `${name}:${goText(item)}`)
    .join(" ")}]`;
}

const sortedFields = (value: JsonObject): [string, JsonValue][] =>
  Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));

function mapProblems(value: JsonObject, schema: StructuralSchema, path: string): string[] {
  const problems: string[] = [];
  for (const [name, item] of sortedFields(value)) {
    const { properties } = schema;
    const declared = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (declared === undefined && !allowsOthers(schema))
      return [...problems, `${path}.${name}: field not declared in schema`];
    problems.push(...typedProblems(item, declared ?? valuesSchema(schema), `${path}.${name}`));
  }
  return problems;
}

function allowsOthers(schema: StructuralSchema): boolean {
  return (
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    (schema.additionalProperties !== undefined && schema.additionalProperties !== false) ||
    schema.properties === undefined
  );
}

function listProblems(list: readonly JsonValue[], schema: StructuralSchema, path: string): string[] {
  const kind = schema["x-kubernetes-list-type"] ?? "atomic";
  if (kind === "atomic") return list.flatMap((item, index) => typedProblems(item, schema.items, `${path}[${index}]`));
  const problems: string[] = [];
  const seen: JsonValue[] = [];
  for (const [index, item] of list.entries()) {
    const identity = identityOf(item, schema);
    if ("problem" in identity) return [...problems, `${path}: element ${index}: ${identity.problem}`];
    const { value, text } = identity;
    if (seen.some((other) => jsonEqual(other, value))) problems.push(`${path}: duplicate entries for key ${text}`);
    seen.push(value);
    problems.push(...typedProblems(item, schema.items, `${path}${text}`));
  }
  return problems;
}

type Identity = { readonly value: JsonValue; readonly text: string } | { readonly problem: string };

/** What makes an element of a set, or of a list with keys, the same as another. */
export function identityOf(item: JsonValue, schema: StructuralSchema): Identity {
  if (schema["x-kubernetes-list-type"] !== "map") {
    const shape = Array.isArray(item) ? "a list type" : isJsonObject(item) ? "a map type" : undefined;
    if (shape !== undefined) return { problem: `associative list without keys has an element that's ${shape}` };
    if (item === null) return { problem: "associative list without keys has an element that's an explicit null" };
    return { value: item, text: `[=${JSON.stringify(item)}]` };
  }
  if (item === null) return { problem: "associative list with keys may not have a null element" };
  if (!isJsonObject(item)) return { problem: "associative list with keys may not have non-map elements" };
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const entries = keys.toSorted().flatMap((key): [string, JsonValue][] => {
    // A default in a schema is JSON.
    const given = item[key] ?? (schema.items?.properties?.[key]?.default as JsonValue | undefined);
    return given === undefined ? [] : [[key, given]];
  });
  if (entries.length === 0) {
    const names = `[${keys.map((key) => JSON.stringify(key)).join(" ")}]`;
    return {
      problem: `associative list with keys has an element that omits all key fields ${names} (and doesn't have default values for any key fields)`,
    };
  }
  const text = entries.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",");
  return { value: Object.fromEntries(entries), text: `[${text}]` };
}
