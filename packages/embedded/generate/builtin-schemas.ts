/**
 * The shape of the built-in kinds (field names, types, list keys, merge keys), read from the OpenAPI v3 files in the
 * `k8s.io/kubernetes` module. Facts of the API only: descriptions are left out.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const documents = [
  "api__v1",
  "apis__admissionregistration.k8s.io__v1",
  "apis__apiextensions.k8s.io__v1",
  "apis__apiregistration.k8s.io__v1",
  "apis__apps__v1",
  "apis__authentication.k8s.io__v1",
  "apis__authorization.k8s.io__v1",
  "apis__coordination.k8s.io__v1",
  "apis__discovery.k8s.io__v1",
  "apis__events.k8s.io__v1",
  "apis__policy__v1",
  "apis__rbac.authorization.k8s.io__v1",
  "apis__scheduling.k8s.io__v1",
  "apis__storage.k8s.io__v1",
];

const roots = [
  "core.v1: Namespace Node Pod Event Secret ConfigMap ServiceAccount Service PersistentVolumeClaim PersistentVolume Binding",
  "admissionregistration.v1: MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding",
  "apps.v1: Deployment ReplicaSet DaemonSet ControllerRevision",
  "authentication.v1: TokenRequest TokenReview SelfSubjectReview",
  "authorization.v1: SubjectAccessReview SelfSubjectAccessReview LocalSubjectAccessReview SelfSubjectRulesReview",
  "autoscaling.v1: Scale",
  "coordination.v1: Lease",
  "discovery.v1: EndpointSlice",
  "events.v1: Event",
  "policy.v1: PodDisruptionBudget Eviction",
  "rbac.v1: Role RoleBinding ClusterRole ClusterRoleBinding",
  "scheduling.v1: PriorityClass",
  "storage.v1: StorageClass",
];

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const kept = [
  "type",
  "format",
  "required",
  "enum",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
];

function simplify(schema: Json, seen: (reference: string) => void): Json {
  const allOf = schema["allOf"];
  const reference = schema["$ref"] ?? (Array.isArray(allOf) && isObject(allOf[0]) ? allOf[0]["$ref"] : undefined);
  const result: Json = {};
  for (const key of kept) if (schema[key] !== undefined) result[key] = schema[key];
  const fallback = schema["default"];
  if (fallback !== undefined && !isObject(fallback) && fallback !== "" && fallback !== 0) result["default"] = fallback;
  if (typeof reference === "string") {
    const name = reference.replace("#/components/schemas/", "");
    seen(name);
    return { $ref: name, ...result };
  }
  if (Array.isArray(schema["oneOf"])) return { ...result, "x-kubernetes-int-or-string": true };
  if (isObject(schema["properties"])) {
    result["properties"] = Object.fromEntries(
      Object.entries(schema["properties"]).map(([name, child]) => [name, simplify(child as Json, seen)]),
    );
  }
  if (isObject(schema["items"])) result["items"] = simplify(schema["items"], seen);
  if (isObject(schema["additionalProperties"])) {
    result["additionalProperties"] = simplify(schema["additionalProperties"], seen);
  }
  const isOpen = result["type"] === undefined || result["type"] === "object";
  if (isOpen && !result["properties"] && !result["additionalProperties"]) {
    result["x-kubernetes-preserve-unknown-fields"] = true;
  }
  return result;
}

/** The content of `gen/builtin-schemas.json`; `directory` is `api/openapi-spec/v3` of the module. */
export function builtinSchemas(directory: string): string {
  const all = new Map<string, Json>();
  for (const name of documents) {
    const document = JSON.parse(readFileSync(join(directory, `${name}_openapi.json`), "utf8")) as {
      components: { schemas: Record<string, Json> };
    };
    for (const [key, schema] of Object.entries(document.components.schemas)) all.set(key, schema);
  }
  const queue = roots.flatMap((line) => {
    const [group = "", kinds = ""] = line.split(": ");
    return kinds.split(" ").map((kind) => `io.k8s.api.${group}.${kind}`);
  });
  queue.push(
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
    "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
  );
  const result = new Map<string, Json>();
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (result.has(name)) continue;
    const schema = all.get(name);
    if (schema === undefined) throw new Error(`no schema ${name} in ${directory}`);
    result.set(
      name,
      simplify(schema, (reference) => queue.push(reference)),
    );
  }
  const lines = [...result.keys()].sort().map((name) => `${JSON.stringify(name)}:${JSON.stringify(result.get(name))}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}
