import { isJsonObject, type JsonObject } from "../json.ts";
import type { Resource } from "../registry/resource.ts";
import { objectMetaName, reachableDefinitions, type Schema } from "../schema/schema.ts";
import { serverVersion } from "../routes/health.ts";

/** How schemas name each other: the two versions of OpenAPI differ only in the prefix here. */
type ReferencePrefix = "#/components/schemas/" | "#/definitions/";

const listMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const deleteOptionsName = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
const statusName = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

const gvkOf = ({ group, version, kind }: Resource): JsonObject => ({ group, version, kind });

/** The OpenAPI v3 document of one group version: the schemas of its kinds, and the operations that clients look for. */
export function openApiDocument(resources: readonly Resource[]): JsonObject {
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: serverVersion.gitVersion },
    paths: Object.assign({}, ...resources.map(pathsOf)) as JsonObject,
    components: { schemas: schemasOf(resources, "#/components/schemas/") },
  };
}

/** The older document over everything, for clients that know no other. */
export function swaggerDocument(resources: readonly Resource[]): JsonObject {
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: serverVersion.gitVersion },
    paths: {},
    definitions: schemasOf(resources, "#/definitions/"),
  };
}

function schemasOf(resources: readonly Resource[], prefix: ReferencePrefix): JsonObject {
  const builtin = resources.filter((resource) => resource.typed);
  const names = [
    objectMetaName,
    listMetaName,
    deleteOptionsName,
    statusName,
    ...builtin.map((resource) => resource.definitionName),
  ];
  const schemas: JsonObject = {};
  for (const [name, schema] of reachableDefinitions(names)) schemas[name] = publish(schema, prefix);
  for (const resource of resources) {
    const published = resource.typed
      ? (schemas[resource.definitionName] as JsonObject)
      : customSchema(resource, prefix);
    const description = resource.description === undefined ? {} : { description: resource.description };
    schemas[resource.definitionName] = {
      ...published,
      ...description,
      "x-kubernetes-group-version-kind": [gvkOf(resource)],
    };
    if (!resource.virtual) schemas[`${resource.definitionName}List`] = listSchema(resource, prefix);
  }
  return schemas;
}

function customSchema(resource: Resource, prefix: ReferencePrefix): JsonObject {
  const schema = publish(resource.schema, prefix);
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  return {
    ...schema,
    properties: {
      ...properties,
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { $ref: `${prefix}${objectMetaName}` },
    },
  };
}

function listSchema(resource: Resource, prefix: ReferencePrefix): JsonObject {
  return {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { $ref: `${prefix}${listMetaName}` },
      items: { type: "array", items: { $ref: `${prefix}${resource.definitionName}` } },
    },
    "x-kubernetes-group-version-kind": [{ ...gvkOf(resource), kind: resource.listKind }],
  };
}

/** A schema as clients expect it: references carry the document's prefix, and nothing stands beside them. */
function publish(schema: Schema, prefix: ReferencePrefix): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(schema) as [string, unknown][]) {
    if (key === "$ref") continue;
    if (key === "properties" && isJsonObject(value)) {
      result[key] = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, publish(child as Schema, prefix)]),
      );
    } else if ((key === "items" || key === "additionalProperties" || key === "not") && isJsonObject(value)) {
      result[key] = publish(value, prefix);
    } else if (key === "x-kubernetes-int-or-string" && schema.type === undefined && prefix === "#/definitions/") {
      result["type"] = "string";
      result["format"] = "int-or-string";
    } else {
      result[key] = value;
    }
  }
  if (schema.$ref === undefined) return result;
  const reference = { $ref: `${prefix}${schema.$ref}` };
  return Object.keys(result).length === 0 ? reference : { ...result, allOf: [reference] };
}

const parameter = (name: string, type = "string"): JsonObject => ({
  name,
  in: "query",
  schema: { type, uniqueItems: true },
});
const writeParameters = ["dryRun", "fieldManager", "fieldValidation"].map((name) => parameter(name));
const patchTypes = [
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

function pathsOf(resource: Resource): JsonObject {
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.apiVersion}`;
  const base = `${root}${resource.namespaced ? "/namespaces/{namespace}" : ""}/${resource.plural}`;
  const gvk = gvkOf(resource);
  const reference = { $ref: `#/components/schemas/${resource.definitionName}` };
  const operation = (action: string, extra: JsonObject = {}): JsonObject => ({
    operationId: `${action}${resource.group.replaceAll(/[^a-zA-Z0-9]/g, "")}${resource.version}${resource.namespaced ? "Namespaced" : ""}${resource.kind}`,
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": gvk,
    responses: { "200": { description: "OK", content: { "application/json": { schema: reference } } } },
    ...extra,
  });
  const body = (types: readonly string[]): JsonObject => ({
    requestBody: { required: true, content: Object.fromEntries(types.map((type) => [type, { schema: reference }])) },
  });
  const post = operation("post", { parameters: writeParameters, ...body(["application/json"]) });
  if (resource.virtual) return { [base]: { post } };
  const types = patchTypes.filter((type) => resource.typed || !type.includes("strategic"));
  return {
    [base]: { get: operation("list"), post, delete: operation("deletecollection") },
    [`${base}/{name}`]: {
      get: operation("get"),
      put: operation("put", { parameters: writeParameters, ...body(["application/json"]) }),
      patch: operation("patch", { parameters: [...writeParameters, parameter("force", "boolean")], ...body(types) }),
      delete: operation("delete"),
    },
  };
}
