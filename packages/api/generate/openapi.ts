import type { JsonSchemaProps } from "../src/k8s/apiextensions.ts";
import type { FieldSource, SchemaSource, TypeSource } from "./read-schema.ts";
import { scalars } from "./scalars.ts";
import { unreachable, type TypeExpression } from "./type-expression.ts";

const refPrefix = "#/components/schemas/";

/** The OpenAPI document of all types: each once, by name. CRDs are made from it by replacing references. */
export function emitOpenApi(schema: SchemaSource): string {
  const components: Record<string, JsonSchemaProps> = {};
  for (const type of [...schema.types.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    components[type.name] = typeSchema(type);
  }
  const document = {
    openapi: "3.0.0",
    info: { title: "Polyvirt", version: "v1" },
    paths: {},
    components: { schemas: components },
  };
  return `${JSON.stringify(document, undefined, 1)}\n`;
}

/** What CRDs need besides schemas: names, versions, subresources, columns. */
export function emitKinds(schema: SchemaSource): string {
  return `${JSON.stringify(schema.kinds, undefined, 1)}\n`;
}

function typeSchema(type: TypeSource): JsonSchemaProps {
  const fields = [...type.fields].sort(([a], [b]) => (a < b ? -1 : 1));
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field)]));
  return {
    description: type.about,
    type: "object",
    ...(type.nullable ? { nullable: true } : {}),
    ...(type.required.length > 0 ? { required: [...type.required] } : {}),
    ...(fields.length > 0 ? { properties } : {}),
    ...(type.atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
  };
}

function fieldSchema(field: FieldSource): JsonSchemaProps {
  const base = expressionSchema(field.type, { ...(field.enum ? { enum: [...field.enum] } : {}), ...field.limits });
  return {
    description: describe(field),
    ...base,
    ...(field.default === undefined ? {} : { default: field.default }),
  };
}

function describe(field: FieldSource): string {
  const values = field.values ?? field.states;
  return values === undefined ? field.about : `${field.about} One of ${values.join(", ")}.`;
}

type Constraints = Partial<JsonSchemaProps>;

function expressionSchema(type: TypeExpression, constraints: Constraints): JsonSchemaProps {
  switch (type.kind) {
    case "named": {
      const nullable = type.nullable ? { nullable: true } : {};
      const scalar = scalars[type.name];
      if (scalar !== undefined) return { ...scalar.schema, ...nullable, ...constraints };
      return { $ref: `${refPrefix}${type.name}`, ...nullable };
    }
    case "map":
      return { type: "object", additionalProperties: expressionSchema(type.values, constraints) };
    case "list": {
      const { minItems, maxItems, ...inner } = constraints;
      return {
        type: "array",
        ...(minItems === undefined ? {} : { minItems }),
        ...(maxItems === undefined ? {} : { maxItems }),
        items: expressionSchema(type.items, inner),
        ...(type.listType === "atomic" ? {} : { "x-kubernetes-list-type": type.listType }),
        ...(type.listType === "map" ? { "x-kubernetes-list-map-keys": [...type.keys] } : {}),
      };
    }
    default:
      throw unreachable(type);
  }
}
