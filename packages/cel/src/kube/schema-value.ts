import { SchemaList } from "../equality.ts";
import { parseDuration, parseTimestamp } from "../time.ts";
import { CelError, Double, type Value } from "../values.ts";
import { valuesSchema, type StructuralSchema } from "./structural-schema.ts";

/** Turns JSON data into values where its schema says more than the JSON: `1` as a number is 1.0, a date is a timestamp. */
export type SchemaAdapter = (value: unknown) => unknown;

/** The adapter for a schema; undefined when data of this schema can be used as it is, which is most of it. */
export function schemaAdapter(schema: StructuralSchema): SchemaAdapter | undefined {
  if (schema["x-kubernetes-int-or-string"] === true) return undefined;
  switch (schema.type ?? "") {
    case "number":
      return (value) => (typeof value === "number" ? new Double(value) : value);
    case "string":
      return textAdapter(schema.format);
    case "array":
      return listAdapter(schema);
    case "object":
      return objectAdapter(schema);
    default:
      return undefined;
  }
}

const parsers: Readonly<Record<string, (text: string) => Value>> = {
  duration: (text) => parseDuration(text) ?? new CelError(`Invalid duration ${JSON.stringify(text)}`),
  date: (text) =>
    parseTimestamp(`${text}T00:00:00Z`) ?? new CelError(`Invalid date formatted string ${JSON.stringify(text)}`),
  "date-time": (text) =>
    parseTimestamp(text) ?? new CelError(`Invalid date-time formatted string ${JSON.stringify(text)}`),
  byte: (text) => decodeBase64(text) ?? new CelError(`Invalid byte formatted string ${JSON.stringify(text)}`),
};

function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function textAdapter(format = ""): SchemaAdapter | undefined {
  const parse = Object.hasOwn(parsers, format) ? parsers[format] : undefined;
  return parse === undefined ? undefined : (value) => (typeof value === "string" ? parse(value) : value);
}

function listAdapter(schema: StructuralSchema): SchemaAdapter | undefined {
  const element = schema.items === undefined ? undefined : schemaAdapter(schema.items);
  const listType = schema["x-kubernetes-list-type"];
  const keys = listType === "map" ? schema["x-kubernetes-list-map-keys"] : undefined;
  const special = listType === "set" || keys !== undefined;
  if (element === undefined && !special) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return value;
    const items: Value[] = element === undefined ? value : value.map((item) => element(item) as Value);
    return special ? SchemaList.of_(items, keys) : items;
  };
}

function objectAdapter(schema: StructuralSchema): SchemaAdapter | undefined {
  const values = valuesSchema(schema);
  if (values !== undefined) {
    const adapter = schemaAdapter(values);
    return adapter === undefined ? undefined : (value) => mapProperties(value, () => adapter);
  }
  const adapters = new Map<string, SchemaAdapter>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const adapter = schemaAdapter(property);
    if (adapter !== undefined) adapters.set(name, adapter);
  }
  return adapters.size === 0 ? undefined : (value) => mapProperties(value, (name) => adapters.get(name));
}

/** A copy in which properties were adapted; the original when none was. */
function mapProperties(value: unknown, adapterOf: (name: string) => SchemaAdapter | undefined): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  let changed = false;
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    const adapted: unknown = adapterOf(name)?.(item) ?? item;
    changed ||= adapted !== item;
    return [name, adapted];
  });
  return changed ? Object.fromEntries(entries) : value;
}
