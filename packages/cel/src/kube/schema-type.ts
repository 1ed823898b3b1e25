import type { FieldInfo, TypeProvider } from "../type-provider.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  listOf,
  mapOf,
  structType,
  type Type,
} from "../types.ts";
import { escapeName } from "./escape-name.ts";
import { valuesSchema, withObjectMeta, type StructuralSchema } from "./structural-schema.ts";

/** The largest request that a Kubernetes API server takes; sizes that no schema bounds are bounded by it. */
const maxRequestBytes = 3 * 1024 * 1024;

/** A schema as CEL sees it: its type, and how large its values can get. */
export interface SchemaNode {
  readonly type: Type;
  /** Most characters of a string, elements of a list or entries of a map; 0 for the rest. */
  readonly maxElements: number;
  /** Least bytes that a value takes as JSON. */
  readonly minSize: number;
  /** Of an object: by name in expressions. */
  readonly fields: ReadonlyMap<string, { readonly node: SchemaNode; readonly property: string }>;
  /** Of a list or map. */
  readonly element?: SchemaNode;
}

export interface SchemaTypeOptions {
  /** The schema is that of a whole object, or of one embedded in another. */
  readonly isResourceRoot?: boolean;
  /**
   * Fields that the schema does not list but preserves can be read, with any type. Kubernetes' own rules cannot see them.
   */
  readonly unknownFieldsAreDyn?: boolean;
}

const noFields: SchemaNode["fields"] = new Map();

function scalar(type: Type, minSize: number, maxElements = 0): SchemaNode {
  return { type, minSize, maxElements, fields: noFields };
}

const formats: Readonly<
  Record<string, { readonly type: Type; readonly minSize: number; readonly maxElements: number }>
> = {
  duration: { type: DURATION, minSize: 3, maxElements: 32 },
  date: { type: TIMESTAMP, minSize: 12, maxElements: 12 },
  "date-time": { type: TIMESTAMP, minSize: 21, maxElements: 32 },
};

/** Types from one schema; every object in it gets a type of its own, named after its place. */
export class SchemaTypes implements TypeProvider {
  readonly #structs = new Map<string, SchemaNode>();
  readonly #options: SchemaTypeOptions;

  constructor(options: SchemaTypeOptions = {}) {
    this.#options = options;
  }

  /** The type of a schema's values; undefined when expressions cannot see them. */
  add(
    schema: StructuralSchema,
    name: string,
    isResourceRoot = this.#options.isResourceRoot ?? false,
  ): SchemaNode | undefined {
    if (schema["x-kubernetes-int-or-string"] === true) {
      return scalar(DYN, 1, schema.maxLength === undefined ? maxRequestBytes - 2 : Math.max(0, schema.maxLength) * 4);
    }
    switch (isResourceRoot ? "object" : (schema.type ?? "")) {
      case "boolean":
        return scalar(BOOL, 4);
      case "integer":
        return scalar(INT, 1);
      case "number":
        return scalar(DOUBLE, 1);
      case "string":
        return textNode(schema);
      case "array":
        return this.#list(schema, name);
      case "object":
        return this.#object(isResourceRoot ? withObjectMeta(schema) : schema, name);
      default:
        return this.#isOpen(schema) ? scalar(DYN, 1, maxRequestBytes) : undefined;
    }
  }

  #isOpen(schema: StructuralSchema): boolean {
    return this.#options.unknownFieldsAreDyn === true && schema["x-kubernetes-preserve-unknown-fields"] === true;
  }

  #child(schema: StructuralSchema, name: string): SchemaNode | undefined {
    return this.add(schema, name, schema["x-kubernetes-embedded-resource"] === true);
  }

  #list(schema: StructuralSchema, name: string): SchemaNode | undefined {
    const element = schema.items === undefined ? undefined : this.#child(schema.items, `${name}.@idx`);
    if (element === undefined) return undefined;
    const maxElements = schema.maxItems ?? Math.floor((maxRequestBytes - 2) / (element.minSize + 1));
    return { type: listOf(element.type), element, maxElements: Math.max(0, maxElements), minSize: 2, fields: noFields };
  }

  #object(schema: StructuralSchema, name: string): SchemaNode | undefined {
    const values = valuesSchema(schema);
    if (values !== undefined) {
      const element = this.#child(values, `${name}.@elem`);
      if (element === undefined) return undefined;
      const maxElements = schema.maxProperties ?? Math.floor((maxRequestBytes - 2) / (element.minSize + 6));
      const type = mapOf(STRING, element.type);
      return { type, element, maxElements: Math.max(0, maxElements), minSize: 2, fields: noFields };
    }
    if (this.#isOpen(schema) && Object.keys(schema.properties ?? {}).length === 0) {
      return scalar(mapOf(STRING, DYN), 2, maxRequestBytes);
    }
    return this.#struct(schema, name);
  }

  #struct(schema: StructuralSchema, name: string): SchemaNode {
    const fields = new Map<string, { node: SchemaNode; property: string }>();
    const required = new Set(schema.required ?? []);
    let minSize = 2;
    for (const [property, propertySchema] of Object.entries(schema.properties ?? {})) {
      const node = this.#child(propertySchema, `${name}.${property}`);
      if (node === undefined) continue;
      const escaped = escapeName(property);
      if (escaped !== undefined) fields.set(escaped, { node, property });
      // Quotes, colon and comma around a required property that no default fills in.
      if (required.has(property) && propertySchema.default === undefined) minSize += property.length + node.minSize + 4;
    }
    const node: SchemaNode = { type: structType(name), fields, minSize, maxElements: 0 };
    this.#structs.set(name, node);
    if (this.#isOpen(schema)) this.#open.add(name);
    return node;
  }

  readonly #open = new Set<string>();

  /** Types of schemas cannot be named: `vmi.spec` in an expression is always the field. */
  findType(): undefined {
    return undefined;
  }

  findField(typeName: string, field: string): FieldInfo | undefined {
    const found = this.#structs.get(typeName)?.fields.get(field);
    if (found === undefined) return this.#open.has(typeName) ? { type: DYN } : undefined;
    const { node, property } = found;
    return property === field ? { type: node.type } : { type: node.type, property };
  }

  fieldNames(typeName: string): Iterable<string> {
    return this.#structs.get(typeName)?.fields.keys() ?? [];
  }
}

function textNode(schema: StructuralSchema): SchemaNode {
  const { format = "", maxLength } = schema;
  const special = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (special !== undefined) return scalar(special.type, special.minSize, special.maxElements);
  const unbounded = maxRequestBytes - 2;
  if (format === "byte") return scalar(BYTES, 2, maxLength === undefined ? unbounded : Math.max(0, maxLength));
  // A character may take four bytes.
  if (maxLength !== undefined) return scalar(STRING, 2, Math.max(0, maxLength) * 4);
  if (schema.enum === undefined || schema.enum.length === 0) return scalar(STRING, 2, unbounded);
  const lengths = schema.enum.map((value) => (typeof value === "string" ? new TextEncoder().encode(value).length : 0));
  return scalar(STRING, 2, Math.max(...lengths));
}

/** How often data of at least this size can occur in one request. */
export function maxCardinality(minSize: number): number {
  return Math.floor(maxRequestBytes / (minSize + 1));
}
