import type { CustomResourceDefinition, CustomResourceVersion, JsonSchemaProps } from "./k8s/apiextensions.ts";
import kindTable from "./gen/kinds.json" with { type: "json" };
import openapi from "./gen/openapi.json" with { type: "json" };

/**
 * The custom resource definitions of our kinds. They are put together from the OpenAPI document on demand, because the
 * schema of an instance occurs in four kinds and two versions: written out it would be megabytes in every process.
 */
interface Kind {
  readonly kind: string;
  readonly group: string;
  readonly versions: readonly string[];
  readonly scope: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly string[];
  readonly columns: readonly Column[];
}

interface Column {
  readonly name: string;
  readonly type?: string;
  readonly path: string;
  readonly about?: string;
  readonly wide?: boolean;
}

const kinds: readonly Kind[] = kindTable;
// The document is generated as exactly this subset of OpenAPI.
const components = openapi.components.schemas as unknown as Readonly<Record<string, JsonSchemaProps>>;
const refPrefix = "#/components/schemas/";

export function buildCustomResourceDefinitions(): CustomResourceDefinition[] {
  return kinds.map(buildDefinition);
}

export function buildCustomResourceDefinition(kind: string): CustomResourceDefinition {
  const found = kinds.find((candidate) => candidate.kind === kind);
  if (found === undefined) throw new RangeError(`there is no kind ${kind} among ours`);
  return buildDefinition(found);
}

function buildDefinition(kind: Kind): CustomResourceDefinition {
  const schema = objectSchema(kind.kind);
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${kind.group}` },
    spec: {
      group: kind.group,
      scope: kind.scope === "Cluster" ? "Cluster" : "Namespaced",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        ...(kind.shortNames.length > 0 ? { shortNames: [...kind.shortNames] } : {}),
        ...(kind.categories.length > 0 ? { categories: [...kind.categories] } : {}),
      },
      versions: kind.versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: schema },
        ...buildSubresources(kind),
        additionalPrinterColumns: kind.columns.map(buildColumn),
      })),
    },
  };
}

function buildColumn(column: Column): NonNullable<CustomResourceVersion["additionalPrinterColumns"]>[number] {
  return {
    name: column.name,
    // Columns without a type are text; the others name one of Kubernetes' column types.
    type: (column.type ?? "string") as "string",
    jsonPath: column.path,
    ...(column.about === undefined ? {} : { description: column.about }),
    ...(column.wide === true ? { priority: 1 } : {}),
  };
}

function buildSubresources(kind: Kind): Pick<CustomResourceVersion, "subresources"> {
  if (kind.subresources.length === 0) return {};
  return {
    subresources: {
      ...(kind.subresources.includes("status") ? { status: {} } : {}),
      ...(kind.subresources.includes("scale")
        ? {
            scale: {
              specReplicasPath: ".spec.replicas",
              statusReplicasPath: ".status.replicas",
              labelSelectorPath: ".status.labelSelector",
            },
          }
        : {}),
    },
  };
}

/** The schema of a whole object: the declared type with the three fields that every object has. */
function objectSchema(kind: string): JsonSchemaProps {
  const schema = inline({ $ref: `${refPrefix}${kind}` });
  return {
    ...schema,
    properties: {
      apiVersion: { type: "string", description: "API group and version of this object." },
      kind: { type: "string", description: "Kind of this object." },
      metadata: { type: "object" },
      ...schema.properties,
    },
  };
}

/** Structural schemas know no references: each is replaced by what it names. */
function inline(node: JsonSchemaProps): JsonSchemaProps {
  if (node.$ref !== undefined) {
    const { $ref, ...own } = node;
    const target = components[$ref.slice(refPrefix.length)];
    if (target === undefined) throw new RangeError(`the OpenAPI document does not have ${$ref}`);
    return inline({ ...target, ...own });
  }
  const { properties, items, additionalProperties } = node;
  return {
    ...node,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, inline(child)])) }),
    ...(items === undefined ? {} : { items: inline(items) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: inline(additionalProperties) } : {}),
  };
}
