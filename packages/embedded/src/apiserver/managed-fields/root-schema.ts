import type { Resource } from "../registry/resource.ts";
import { objectMetaReference, resolve, type Schema } from "../schema/schema.ts";

const cache = new WeakMap<Schema, Schema>();

/** The schema for dividing an object into fields. Custom resources say nothing about metadata, so it is put in. */
export function rootSchema(resource: Resource): Schema {
  const known = cache.get(resource.schema);
  if (known !== undefined) return known;
  const schema = resolve(resource.schema);
  const result = { ...schema, properties: { ...schema.properties, metadata: objectMetaReference } };
  cache.set(resource.schema, result);
  return result;
}
