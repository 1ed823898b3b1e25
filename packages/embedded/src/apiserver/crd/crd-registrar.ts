import { compileCrdRules } from "@polyvirt/cel";

import type { Store } from "../../store/store.ts";
import { copyJson, isJsonObject, valueAt, type JsonObject, textOf } from "../json.ts";
import { ageColumn, ageOf, nameColumn } from "../kinds/columns.ts";
import type { ApiObject, Column, Conversion } from "../kinds/kind.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { compareVersions } from "../registry/compare-versions.ts";
import { decodeStored } from "../registry/object-codec.ts";
import { allVerbs, apiVersionOf, bucketName, type Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import type { Schema } from "../schema/schema.ts";
import { applySchemaDefaults, pruneUnknown } from "../schema/structural.ts";
import { hasRules } from "./structural-rules.ts";
import { compileJsonPath, simplePath } from "./json-path.ts";

const strings = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

interface RegistrarDeps {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly definitions: Resource;
}

/** Serves custom resources: routes exist as soon as their definition is on disk, and vanish with it. */
export function startCrdRegistrar({ store, registry, definitions }: RegistrarDeps): void {
  const prefix = `${definitions.bucket}/`;
  const register = (object: ApiObject): void => {
    const group = textOf(valueAt(object, "spec", "group"));
    const plural = textOf(valueAt(object, "spec", "names", "plural"));
    registry.replace(group, plural, nameConflict(registry, object) === undefined ? resourcesOf(object) : []);
  };
  for (const { value } of store.range(prefix).entries) register(decodeStored(definitions, value));
  store.subscribe((events) => {
    for (const event of events) {
      if (!event.key.startsWith(prefix)) continue;
      if (event.value !== undefined) register(decodeStored(definitions, event.value));
      else if (event.previous !== undefined) {
        const object = decodeStored(definitions, event.previous.value);
        registry.replace(
          textOf(valueAt(object, "spec", "group")),
          textOf(valueAt(object, "spec", "names", "plural")),
          [],
        );
      }
    }
  });
}

/** A kind or plural that another resource of the group already has; undefined when the names are free. */
export function nameConflict(registry: ResourceRegistry, object: ApiObject): string | undefined {
  const group = textOf(valueAt(object, "spec", "group"));
  const names = valueAt(object, "spec", "names");
  const plural = textOf(valueAt(names, "plural"));
  const kind = textOf(valueAt(names, "kind"));
  const other = registry
    .all()
    .find(
      (resource) =>
        resource.group === group &&
        resource.plural !== plural &&
        (resource.kind === kind || resource.listKind === textOf(valueAt(names, "listKind"))),
    );
  return other === undefined ? undefined : `"${kind}" is already in use`;
}

/** One resource for each served version. */
export function resourcesOf(definition: ApiObject): Resource[] {
  const spec = definition["spec"];
  const names = valueAt(spec, "names");
  const group = textOf(valueAt(spec, "group"));
  const plural = textOf(valueAt(names, "plural"));
  const versions = objectsIn(valueAt(spec, "versions"));
  const storage = versions.find((version) => version["storage"] === true);
  const served = versions.filter((version) => version["served"] === true);
  const storedAs = { apiVersion: apiVersionOf(group, textOf(storage?.["name"])), schema: schemaOf(storage ?? {}) };
  return served.map((version) => {
    const name = textOf(version["name"]);
    const scale = valueAt(version, "subresources", "scale");
    const subresources = new Set<string>();
    if (valueAt(version, "subresources", "status") !== undefined) subresources.add("status");
    if (scale !== undefined) subresources.add("scale");
    const kind = textOf(valueAt(names, "kind"));
    const schema = schemaOf(version);
    return {
      group,
      version: name,
      apiVersion: apiVersionOf(group, name),
      kind,
      listKind: textOf(valueAt(names, "listKind")) || `${kind}List`,
      plural,
      singular: textOf(valueAt(names, "singular")) || kind.toLowerCase(),
      shortNames: strings(valueAt(names, "shortNames")),
      categories: strings(valueAt(names, "categories")),
      namespaced: valueAt(spec, "scope") === "Namespaced",
      verbs: allVerbs,
      subresources,
      columns: columnsOf(version),
      strategy: { fields: selectableFields(version) },
      schema,
      typed: false,
      bucket: bucketName(group, plural),
      storageApiVersion: storedAs.apiVersion,
      ...(version === storage
        ? {}
        : { conversion: conversionBetween({ apiVersion: apiVersionOf(group, name), schema }, storedAs) }),
      virtual: false,
      definitionName: `${group.split(".").reverse().join(".")}.${name}.${kind}`,
      ...(scale === undefined ? {} : { scale: scalePaths(scale) }),
      ...(version["deprecated"] === true ? { deprecation: deprecationOf(version, group, kind, served) } : {}),
      ...(hasRules(schema) ? { rules: once(() => compileCrdRules(schema)) } : {}),
    } satisfies Resource;
  });
}

interface VersionShape {
  readonly apiVersion: string;
  readonly schema: Schema;
}

/** Versions differ in their schemas alone: what one of them does not know is not in its objects, and has its defaults. */
function conversionBetween(own: VersionShape, stored: VersionShape): Conversion {
  const shaped =
    ({ apiVersion, schema }: VersionShape) =>
    (object: ApiObject): ApiObject => {
      const result = { ...copyJson(object), apiVersion };
      pruneUnknown(result, schema, () => undefined);
      applySchemaDefaults(result, schema);
      return result;
    };
  return { fromStored: shaped(own), toStored: shaped(stored) };
}

function deprecationOf(version: JsonObject, group: string, kind: string, served: readonly JsonObject[]): string {
  const own = textOf(version["deprecationWarning"]);
  if (own !== "") return own;
  const named = ({ name }: JsonObject): string => `${apiVersionOf(group, textOf(name))} ${kind}`;
  const current = served
    .filter((other) => other["deprecated"] !== true)
    .toSorted((left, right) => compareVersions(textOf(left["name"]), textOf(right["name"])))[0];
  return `${named(version)} is deprecated${current === undefined ? "" : `; use ${named(current)}`}`;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function schemaOf(version: JsonObject): Schema {
  const schema = valueAt(version, "schema", "openAPIV3Schema");
  // Checked to be a structural schema when the definition was written.
  return isJsonObject(schema) ? schema : { type: "object", "x-kubernetes-preserve-unknown-fields": true };
}

function scalePaths(scale: unknown): NonNullable<Resource["scale"]> {
  const selector = textOf(valueAt(scale, "labelSelectorPath"));
  return {
    specReplicas: simplePath(textOf(valueAt(scale, "specReplicasPath"))),
    statusReplicas: simplePath(textOf(valueAt(scale, "statusReplicasPath"))),
    selector: selector === "" ? undefined : simplePath(selector),
  };
}

function selectableFields(version: JsonObject): (object: ApiObject) => Record<string, string> {
  const paths = objectsIn(version["selectableFields"]).map((item) => textOf(item["jsonPath"]));
  return (object) =>
    Object.fromEntries(
      paths.map((path) => {
        const value = valueAt(object, ...simplePath(path));
        return [path.replace(/^\./, ""), textOf(value)];
      }),
    );
}

function columnsOf(version: JsonObject): readonly Column[] {
  const own = objectsIn(version["additionalPrinterColumns"]);
  if (own.length === 0) return [nameColumn, ageColumn];
  return [nameColumn, ...own.map(columnOf)];
}

const columnTypes = ["string", "integer", "number", "boolean", "date"] as const;

function columnOf(definition: JsonObject): Column {
  const read = compileJsonPath(textOf(definition["jsonPath"]));
  const type = columnTypes.find((name) => name === definition["type"]) ?? "string";
  const priority = definition["priority"];
  return {
    name: textOf(definition["name"]),
    type,
    ...(definition["format"] === undefined ? {} : { format: textOf(definition["format"]) }),
    description: textOf(definition["description"]) || describedByPath(textOf(definition["jsonPath"])),
    ...(typeof priority === "number" ? { priority } : {}),
    value: (object, now) => cell(read(object), type, now),
  };
}

const describedByPath = (path: string): string => `Custom resource definition column (in JSONPath format): ${path}`;

function cell(values: readonly unknown[], type: Column["type"], now: number): unknown {
  const [value] = values;
  if (value === undefined || value === null) return null;
  switch (type) {
    case "date":
      return ageOf(value, now);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "string":
      return values.map((item) => (typeof item === "string" ? item : JSON.stringify(item))).join(",");
  }
}
