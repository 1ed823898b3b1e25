import type { StructuralSchema } from "@polyvirt/cel";

import { isJsonObject } from "../json.ts";
import { resolve, type Schema } from "./schema.ts";

const known = new WeakMap<Schema, StructuralSchema>();

/** A built-in kind's schema without references, for readers that know none. Parts are expanded when they are looked at. */
export function expandedSchema(reference: Schema): StructuralSchema {
  const schema = resolve(reference);
  let expanded = known.get(schema);
  if (expanded === undefined) {
    expanded = expand(schema);
    known.set(schema, expanded);
  }
  return expanded;
}

function expand(schema: Schema): StructuralSchema {
  const { properties, items, additionalProperties, ...rest } = schema;
  const result: StructuralSchema = { ...rest };
  const define = (name: string, make: () => unknown): void => {
    Object.defineProperty(result, name, { enumerable: true, configurable: true, get: make });
  };
  if (items !== undefined) define("items", () => expandedSchema(items));
  if (isJsonObject(additionalProperties)) define("additionalProperties", () => expandedSchema(additionalProperties));
  else if (additionalProperties !== undefined) define("additionalProperties", () => additionalProperties);
  if (properties !== undefined) {
    const fields = {};
    for (const [name, child] of Object.entries(properties)) {
      Object.defineProperty(fields, name, { enumerable: true, get: () => expandedSchema(child) });
    }
    define("properties", () => fields);
  }
  return result;
}
