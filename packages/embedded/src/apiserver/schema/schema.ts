import type { StructuralSchema } from "@polyvirt/cel";

import builtins from "../gen/builtin-schemas.json" with { type: "json" };

import { errors } from "../../errors.ts";
import { isJsonObject } from "../json.ts";

/**
 * A structural schema with everything that values are checked for and that people read; built-in kinds use the same shape
 * plus `$ref` and merge keys.
 */
export interface Schema extends StructuralSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
}

// The generated file has exactly this shape; its literal type is too wide to be inferred usefully.
const definitions = builtins as unknown as Readonly<Record<string, Schema>>;
const resolved = new WeakMap<Schema, Schema>();

/** Follows a reference; what stands beside the reference overrides what it points to. */
export function resolve(schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const known = resolved.get(schema);
  if (known !== undefined) return known;
  const target = resolve(definition(schema.$ref));
  const { $ref: _, ...beside } = schema;
  const result = Object.keys(beside).length === 0 ? target : { ...target, ...beside };
  resolved.set(schema, result);
  return result;
}

export function definition(name: string): Schema {
  const schema = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (schema === undefined)
    throw errors.ApiServerSchemaMissing(`read schema ${name}: it is not in the generated table`);
  return schema;
}

/** Whether Kubernetes has a kind of that name in that version; `core` is the group without a name. */
export function isDefined(apiVersion: string, kind: string): boolean {
  const [version = "", group = "core"] = apiVersion.split("/").toReversed();
  const end = `.${group.split(".")[0]}.${version}.${kind}`;
  return Object.keys(definitions).some((name) => name.endsWith(end));
}

export const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
export const quantityName = "io.k8s.apimachinery.pkg.api.resource.Quantity";
export const objectMetaReference: Schema = { $ref: objectMetaName };

/** The schema of a property, looked up in a schema that was resolved; undefined when the field is unknown. */
export function propertySchema(schema: Schema, name: string): Schema | undefined {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  if (isJsonObject(additionalProperties)) return additionalProperties;
  return undefined;
}

export const preservesUnknown = (schema: Schema): boolean =>
  schema["x-kubernetes-preserve-unknown-fields"] === true || schema.additionalProperties === true;

/** All definitions that the named ones reach, for the OpenAPI documents. */
export function reachableDefinitions(names: Iterable<string>): Map<string, Schema> {
  const found = new Map<string, Schema>();
  const queue = [...names];
  const visit = (schema: Schema): void => {
    if (schema.$ref !== undefined) queue.push(schema.$ref);
    for (const child of Object.values(schema.properties ?? {})) visit(child);
    if (schema.items !== undefined) visit(schema.items);
    if (isJsonObject(schema.additionalProperties)) visit(schema.additionalProperties);
  };
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (found.has(name)) continue;
    const schema = definition(name);
    found.set(name, schema);
    visit(schema);
  }
  return found;
}
