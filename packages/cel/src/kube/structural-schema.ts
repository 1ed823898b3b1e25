/** The part of a structural schema that CEL looks at. The schemas of CRDs and of built-in kinds are such objects. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly required?: readonly string[];
  readonly items?: StructuralSchema;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly StructuralSchema[];
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly unknown[];
}

/** The schema of the values of a map; undefined for objects with fields. */
export function valuesSchema(schema: StructuralSchema): StructuralSchema | undefined {
  const { additionalProperties } = schema;
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

const text: StructuralSchema = { type: "string" };

/**
 * What rules see of the root of an object: kind, apiVersion and the name are always there, and of the metadata nothing
 * else.
 */
export function withObjectMeta(schema: StructuralSchema): StructuralSchema {
  const metadata: StructuralSchema = { type: "object", properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, kind: text, apiVersion: text, metadata } };
}
