import { copyJson, isJsonObject, setOwn, type JsonObject } from "../json.ts";
import { objectMetaReference, preservesUnknown, propertySchema, resolve, type Schema } from "./schema.ts";

const identityFields = new Set(["apiVersion", "kind", "metadata"]);

/** Removes what a structural schema does not know, in place, and reports each removed path. */
export function pruneUnknown(value: JsonObject, schema: Schema, onUnknown: (path: string) => void): void {
  pruneObject(value, schema, "", true, onUnknown);
}

function pruneValue(value: unknown, schema: Schema, path: string, onUnknown: (path: string) => void): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) value.forEach((item, index) => pruneValue(item, items, `${path}[${index}]`, onUnknown));
  } else if (isJsonObject(value)) {
    const isResource = schema["x-kubernetes-embedded-resource"] === true;
    if (isResource) pruneMetadata(value, path, onUnknown);
    pruneObject(value, schema, path, isResource, onUnknown);
  }
}

/** An object inside an object has the metadata that every object has. */
function pruneMetadata(value: JsonObject, path: string, onUnknown: (path: string) => void): void {
  const { metadata } = value;
  if (!isJsonObject(metadata)) return;
  const known = resolve(objectMetaReference);
  for (const key of Object.keys(metadata)) {
    if (propertySchema(known, key) !== undefined) continue;
    delete metadata[key];
    onUnknown(`${path}.metadata.${key}`);
  }
}

function pruneObject(
  value: JsonObject,
  schema: Schema,
  path: string,
  isResource: boolean,
  onUnknown: (path: string) => void,
): void {
  const keepUnknown = preservesUnknown(schema);
  for (const key of Object.keys(value)) {
    if (isResource && identityFields.has(key)) continue;
    const child = propertySchema(schema, key);
    const childPath = path === "" ? key : `${path}.${key}`;
    if (child !== undefined) pruneValue(value[key], child, childPath, onUnknown);
    else if (!keepUnknown) {
      delete value[key];
      onUnknown(childPath);
    }
  }
}

/** Drops nulls where the schema does not allow them, then fills in defaults; in place. */
export function applySchemaDefaults(value: unknown, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) applySchemaDefaults(item, schema.items);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const present = Object.hasOwn(value, key);
    if (present && value[key] === null && child.nullable !== true) delete value[key];
    if (!Object.hasOwn(value, key) && child.default !== undefined) setOwn(value, key, copyJson(child.default));
  }
  for (const key of Object.keys(value)) {
    const child = propertySchema(schema, key);
    if (child !== undefined) applySchemaDefaults(value[key], child);
  }
}
