import { fieldError, type FieldError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, valueAt, type JsonObject, textOf } from "../json.ts";
import { computed, nameColumn } from "../kinds/columns.ts";
import type { ApiObject, BuiltinKind } from "../kinds/kind.ts";
import { fill, objectsIn } from "../kinds/pod-defaults.ts";
import { structuralErrors } from "./structural-rules.ts";

const crdGroup = "apiextensions.k8s.io";

export const customResourceDefinition: BuiltinKind = {
  group: crdGroup,
  version: "v1",
  kind: "CustomResourceDefinition",
  description: "Adds a kind of object to this API, with its schema.",
  plural: "customresourcedefinitions",
  namespaced: false,
  schema: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  subresources: ["status"],
  columns: [nameColumn, computed("Created At", (object) => object.metadata.creationTimestamp)],
  strategy: {
    countsGenerations: true,
    applyDefaults(object) {
      const names = valueAt(object, "spec", "names");
      if (isJsonObject(names)) {
        fill(names, { singular: textOf(names["kind"]).toLowerCase(), listKind: `${textOf(names["kind"])}List` });
      }
      if (isJsonObject(object["spec"])) {
        fill(object["spec"], { conversion: { strategy: "None" } });
        if (object["spec"]["preserveUnknownFields"] === false) delete object["spec"]["preserveUnknownFields"];
      }
    },
    prepareCreate(object) {
      object["status"] = {
        conditions: [],
        acceptedNames: { plural: "", kind: "" },
        storedVersions: storageVersions(object),
      } satisfies JsonObject;
    },
    prepareUpdate(object) {
      const status = isJsonObject(object["status"]) ? object["status"] : {};
      const known = Array.isArray(status["storedVersions"]) ? status["storedVersions"] : [];
      // Whatever was ever stored may still be there, until somebody says that it was migrated.
      const storedVersions = [...new Set([...known, ...storageVersions(object)])];
      object["status"] = { ...status, storedVersions };
    },
    validate: validateDefinition,
  },
};

const storageVersions = (object: ApiObject): unknown[] =>
  objectsIn(valueAt(object, "spec", "versions")).flatMap(({ name, storage }) => (storage === true ? [name] : []));

function validateDefinition(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object["spec"];
  const found: FieldError[] = [];
  const expected = `${textOf(valueAt(spec, "names", "plural"))}.${textOf(valueAt(spec, "group"))}`;
  if (object.metadata.name !== expected) {
    found.push(fieldError.invalid("metadata.name", object.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  const scope = valueAt(spec, "scope");
  if (scope !== "Namespaced" && scope !== "Cluster")
    found.push(fieldError.notSupported("spec.scope", scope, ["Cluster", "Namespaced"]));
  if (valueAt(spec, "preserveUnknownFields") === true) {
    found.push(
      fieldError.invalid(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
      ),
    );
  }
  const strategy = valueAt(spec, "conversion", "strategy");
  if (strategy !== "None") found.push(fieldError.notSupported("spec.conversion.strategy", strategy, ["None"]));
  found.push(...validateVersions(objectsIn(valueAt(spec, "versions"))));
  if (old !== undefined) {
    for (const path of [["group"], ["scope"], ["names", "plural"], ["names", "kind"]]) {
      const value = valueAt(spec, ...path);
      if (value !== valueAt(old, "spec", ...path))
        found.push(fieldError.invalid(`spec.${path.join(".")}`, value, "field is immutable"));
    }
  }
  return found;
}

function validateVersions(versions: readonly JsonObject[]): FieldError[] {
  const found: FieldError[] = [];
  if (versions.filter((version) => version["storage"] === true).length !== 1) {
    found.push(
      fieldError.invalid(
        "spec.versions",
        versions.map((version) => version["name"]),
        "must have exactly one version marked as storage version",
      ),
    );
  }
  const names = new Set<unknown>();
  // Kubernetes keeps a schema that all versions share in one place, and names that place.
  const isShared = versions.every((version) => deepEqual(schemaOf(version), schemaOf(versions[0])));
  versions.forEach((version, index) => {
    const field = `spec.versions[${index}]`;
    if (names.has(version["name"])) {
      found.push(fieldError.invalid("spec.versions", version["name"], "must contain unique version names"));
    }
    names.add(version["name"]);
    const schema = schemaOf(version);
    const place = `${field}.schema.openAPIV3Schema`;
    if (!isJsonObject(schema)) found.push(fieldError.required(place, "schemas are required"));
    else if (!isShared) found.push(...structuralErrors(schema, place));
    else if (index === 0) found.push(...structuralErrors(schema, "spec.validation.openAPIV3Schema"));
  });
  return found;
}

const schemaOf = (version: JsonObject | undefined): unknown => valueAt(version, "schema", "openAPIV3Schema");
