import type { JsonSchemaProps } from "../src/k8s/apiextensions.ts";

/**
 * What is wrong with a value by a structural schema, one line for each place: fields that the API server would prune,
 * wrong types, missing fields. Only what our own schemas use; the real judge is the API server.
 */
export function conforms(value: unknown, schema: JsonSchemaProps, path = ""): string[] {
  if (value === null) return schema.nullable === true ? [] : [`${path}: null is not allowed`];
  if (schema["x-kubernetes-int-or-string"] === true) return conformsIntOrString(value, schema, path);
  switch (schema.type) {
    case undefined:
      return schema["x-kubernetes-preserve-unknown-fields"] === true ? [] : [`${path}: the schema has no type`];
    case "object":
      return isRecord(value) ? conformsObject(value, schema, path) : [`${path}: expected an object`];
    case "array":
      if (!Array.isArray(value)) return [`${path}: expected a list`];
      return value.flatMap((item, index) => conforms(item, schema.items ?? {}, `${path}[${index}]`));
    case "string":
      if (typeof value !== "string") return [`${path}: expected text`];
      if (schema.enum?.includes(value) === false) return [`${path}: "${value}" is not one of the allowed values`];
      if (schema.format === "date-time" && Number.isNaN(Date.parse(value))) return [`${path}: expected a time`];
      return [];
    case "integer":
      if (!Number.isInteger(value)) return [`${path}: expected an integer`];
      return conformsNumber(Number(value), schema, path);
    case "number":
      return typeof value === "number" ? conformsNumber(value, schema, path) : [`${path}: expected a number`];
    case "boolean":
      return typeof value === "boolean" ? [] : [`${path}: expected true or false`];
    default:
      return [`${path}: unknown type`];
  }
}

function conformsObject(value: Record<string, unknown>, schema: JsonSchemaProps, path: string): string[] {
  const problems = (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${path}.${name}: missing`);
  for (const [name, child] of Object.entries(value)) {
    const extra = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
    const childSchema = schema.properties?.[name] ?? extra;
    if (childSchema !== undefined) problems.push(...conforms(child, childSchema, `${path}.${name}`));
    else if (schema["x-kubernetes-preserve-unknown-fields"] !== true) problems.push(`${path}.${name}: unknown field`);
  }
  return problems;
}

const formatRanges: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
};

function conformsNumber(value: number, schema: JsonSchemaProps, path: string): string[] {
  const [low, high] = formatRanges[schema.format ?? ""] ?? [-Infinity, Infinity];
  const minimum = Math.max(low, schema.minimum ?? -Infinity);
  return value < minimum || value > high ? [`${path}: ${value} is out of range`] : [];
}

function conformsIntOrString(value: unknown, schema: JsonSchemaProps, path: string): string[] {
  if (Number.isInteger(value)) return [];
  if (typeof value !== "string") return [`${path}: expected an integer or text`];
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
    return [`${path}: "${value}" is no quantity`];
  return [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
