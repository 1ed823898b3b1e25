import { fieldError, type FieldError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, valueAt, type JsonObject, textOf } from "../json.ts";
import { ageColumn, ageOf, columns, computed, nameColumn, numberColumn, textColumn, wide } from "./columns.ts";
import { eventConversion } from "./event-conversion.ts";
import type { ApiObject, BuiltinKind } from "./kind.ts";
import { fill, objectsIn } from "./pod-defaults.ts";

const lease: BuiltinKind = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  description: "Who currently holds a role, and until when; also the heartbeat of nodes.",
  plural: "leases",
  namespaced: true,
  schema: "io.k8s.api.coordination.v1.Lease",
  columns: columns(computed("Holder", (object) => valueAt(object, "spec", "holderIdentity") ?? "")),
};

const endpointSlice: BuiltinKind = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  description: "The addresses of the pods behind a Service.",
  plural: "endpointslices",
  namespaced: true,
  schema: "io.k8s.api.discovery.v1.EndpointSlice",
  columns: columns(
    textColumn("AddressType", "addressType"),
    computed("Ports", (object) =>
      shorten(
        objectsIn(object["ports"]).map((port) => String(port["port"])),
        "<unset>",
      ),
    ),
    computed("Endpoints", (object) =>
      shorten(
        objectsIn(object["endpoints"]).flatMap((endpoint) => (endpoint["addresses"] ?? []) as string[]),
        "<unset>",
      ),
    ),
  ),
  strategy: {
    countsGenerations: true,
    optional: ["endpoints"],
    applyDefaults(object) {
      object["endpoints"] ??= [];
      for (const port of objectsIn(object["ports"])) {
        fill(port, { protocol: "TCP" });
        port["name"] ??= "";
      }
    },
    validate: (object, old) =>
      old === undefined || object["addressType"] === old["addressType"]
        ? []
        : [fieldError.invalid("addressType", object["addressType"], "field is immutable")],
  },
};

function shorten(items: readonly string[], none: string): string {
  if (items.length === 0) return none;
  const shown = items.slice(0, 3).join(",");
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}

const eventsEvent: BuiltinKind = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  description: "Something that happened to an object, for people to read; it is forgotten after a while.",
  plural: "events",
  namespaced: true,
  schema: "io.k8s.api.events.v1.Event",
  shortNames: ["ev"],
  storedAs: { group: "", version: "v1", plural: "events" },
  conversion: eventConversion,
  strategy: {
    optional: ["eventTime", "metadata"],
    fields: (object) => ({
      reason: textOf(object["reason"]),
      type: textOf(object["type"]),
      reportingController: textOf(object["reportingController"]),
      ...Object.fromEntries(
        ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((key) => [
          `regarding.${key}`,
          textOf(valueAt(object, "regarding", key)),
        ]),
      ),
    }),
  },
  columns: [
    computed("Last Seen", (object, now) =>
      ageOf(
        valueAt(object, "series", "lastObservedTime") ?? object["deprecatedLastTimestamp"] ?? object["eventTime"],
        now,
      ),
    ),
    textColumn("Type", "type"),
    textColumn("Reason", "reason"),
    computed(
      "Object",
      (object) =>
        `${textOf(valueAt(object, "regarding", "kind")).toLowerCase()}/${textOf(valueAt(object, "regarding", "name"))}`,
    ),
    computed("Message", (object) => textOf(object["note"]).trim()),
    wide(nameColumn),
  ],
};

const podDisruptionBudget: BuiltinKind = {
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  description: "How many pods of a group may be taken away at once on purpose.",
  plural: "poddisruptionbudgets",
  namespaced: true,
  schema: "io.k8s.api.policy.v1.PodDisruptionBudget",
  shortNames: ["pdb"],
  subresources: ["status"],
  columns: columns(
    computed("Min Available", (object) => textOf(valueAt(object, "spec", "minAvailable") ?? "N/A")),
    computed("Max Unavailable", (object) => textOf(valueAt(object, "spec", "maxUnavailable") ?? "N/A")),
    numberColumn("Allowed Disruptions", "status", "disruptionsAllowed"),
  ),
  strategy: {
    countsGenerations: true,
    prepareCreate(object) {
      object["status"] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
    },
    validate(object) {
      const both =
        valueAt(object, "spec", "minAvailable") !== undefined &&
        valueAt(object, "spec", "maxUnavailable") !== undefined;
      return both
        ? [fieldError.invalid("spec", object["spec"], "minAvailable and maxUnavailable cannot be both set")]
        : [];
    },
  },
};

const priorityClass: BuiltinKind = {
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  description: "A name for how important pods are compared with others.",
  plural: "priorityclasses",
  namespaced: false,
  schema: "io.k8s.api.scheduling.v1.PriorityClass",
  shortNames: ["pc"],
  columns: [
    nameColumn,
    numberColumn("Value", "value"),
    { name: "Global-Default", type: "boolean", value: (object) => object["globalDefault"] === true },
    ageColumn,
    textColumn("PreemptionPolicy", "preemptionPolicy"),
  ],
  strategy: {
    optional: ["value"],
    applyDefaults(object) {
      object["value"] ??= 0;
      fill(object, { preemptionPolicy: "PreemptLowerPriority" });
    },
    validate: (object, old) =>
      old === undefined || object["value"] === old["value"]
        ? []
        : [fieldError.forbidden("value", "may not be changed in an update.")],
  },
};

const storageClass: BuiltinKind = {
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  description: "A kind of storage, and who makes volumes of it.",
  plural: "storageclasses",
  namespaced: false,
  schema: "io.k8s.api.storage.v1.StorageClass",
  shortNames: ["sc"],
  columns: [
    {
      ...nameColumn,
      value: (object) =>
        object.metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true"
          ? `${object.metadata.name} (default)`
          : object.metadata.name,
    },
    textColumn("Provisioner", "provisioner"),
    textColumn("ReclaimPolicy", "reclaimPolicy"),
    textColumn("VolumeBindingMode", "volumeBindingMode"),
    { name: "AllowVolumeExpansion", type: "boolean", value: (object) => object["allowVolumeExpansion"] === true },
    ageColumn,
  ],
  strategy: {
    applyDefaults: (object) => fill(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
    validate: (object, old) =>
      old === undefined || deepEqual(object["parameters"], old["parameters"])
        ? []
        : [fieldError.forbidden("parameters", "updates to parameters are forbidden.")],
  },
};

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" };
const rbacSchema = (kind: string): string => `io.k8s.api.rbac.v1.${kind}`;
const createdAt = computed("Created At", (object) => object.metadata.creationTimestamp);

function validateRules(object: ApiObject): FieldError[] {
  return objectsIn(object["rules"]).flatMap((rule, index) => {
    const has = (key: string): boolean => Array.isArray(rule[key]) && (rule[key] as unknown[]).length > 0;
    const field = `rules[${index}]`;
    if (!has("verbs")) return [fieldError.required(`${field}.verbs`, "verbs must contain at least one value")];
    if (has("nonResourceURLs")) return [];
    const groups = fieldError.required(`${field}.apiGroups`, "resource rules must supply at least one api group");
    const resources = fieldError.required(`${field}.resources`, "resource rules must supply at least one resource");
    return [...(has("apiGroups") ? [] : [groups]), ...(has("resources") ? [] : [resources])];
  });
}

function defaultBinding(object: ApiObject): void {
  if (isJsonObject(object["roleRef"])) fill(object["roleRef"], { apiGroup: rbac.group });
  for (const subject of objectsIn(object["subjects"])) {
    if (subject["apiGroup"] === undefined && subject["kind"] !== "ServiceAccount") subject["apiGroup"] = rbac.group;
  }
}

function validateBinding(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  if (old !== undefined && !deepEqual(object["roleRef"], old["roleRef"])) {
    const [APIGroup, Kind, Name] = ["apiGroup", "kind", "name"].map((key) => valueAt(object, "roleRef", key));
    return [fieldError.invalid("roleRef", { APIGroup, Kind, Name }, "cannot change roleRef")];
  }
  return objectsIn(object["subjects"]).flatMap((subject, index) => {
    if (subject["kind"] !== "ServiceAccount") return [];
    const needed = object.metadata.namespace === undefined && textOf(subject["namespace"]) === "";
    return needed ? [fieldError.required(`subjects[${index}].namespace`)] : [];
  });
}

const subjectsOf = (kind: string) => (object: ApiObject) =>
  objectsIn(object["subjects"])
    .filter((subject) => subject["kind"] === kind)
    .map((subject) =>
      kind === "ServiceAccount"
        ? `${textOf(subject["namespace"])}/${textOf(subject["name"])}`
        : textOf(subject["name"]),
    )
    .join(", ");

const bindingColumns = columns(
  computed(
    "Role",
    (object) => `${textOf(valueAt(object, "roleRef", "kind"))}/${textOf(valueAt(object, "roleRef", "name"))}`,
  ),
);
const subjectColumns = [
  wide(computed("Users", subjectsOf("User"))),
  wide(computed("Groups", subjectsOf("Group"))),
  wide(computed("ServiceAccounts", subjectsOf("ServiceAccount"))),
];
const roleStrategy = {
  nameRule: "path-segment",
  optional: ["rules"],
  applyDefaults(object: JsonObject) {
    object["rules"] ??= [];
  },
  validate: validateRules,
} as const;
const bindingStrategy = { nameRule: "path-segment", applyDefaults: defaultBinding, validate: validateBinding } as const;

const rbacKinds: readonly BuiltinKind[] = [
  {
    ...rbac,
    kind: "Role",
    description: "What may be done with which resources of one namespace.",
    plural: "roles",
    namespaced: true,
    schema: rbacSchema("Role"),
    columns: [nameColumn, createdAt],
    strategy: roleStrategy,
  },
  {
    ...rbac,
    kind: "ClusterRole",
    description: "What may be done with which resources of the whole cluster.",
    plural: "clusterroles",
    namespaced: false,
    schema: rbacSchema("ClusterRole"),
    columns: [nameColumn, createdAt],
    strategy: roleStrategy,
  },
  {
    ...rbac,
    kind: "RoleBinding",
    description: "Who has a role, in one namespace.",
    plural: "rolebindings",
    namespaced: true,
    schema: rbacSchema("RoleBinding"),
    columns: [...bindingColumns, ...subjectColumns],
    strategy: bindingStrategy,
  },
  {
    ...rbac,
    kind: "ClusterRoleBinding",
    description: "Who has a cluster role, in the whole cluster.",
    plural: "clusterrolebindings",
    namespaced: false,
    schema: rbacSchema("ClusterRoleBinding"),
    columns: [...bindingColumns, ...subjectColumns],
    strategy: bindingStrategy,
  },
];

export const clusterKinds: readonly BuiltinKind[] = [
  lease,
  endpointSlice,
  eventsEvent,
  podDisruptionBudget,
  priorityClass,
  storageClass,
  ...rbacKinds,
];
