import { fieldError, type FieldError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, valueAt, type JsonObject } from "../json.ts";
import { matchesSelector } from "../registry/label-selector.ts";
import { ageColumn, columns, computed, labelsText, nameColumn, numberColumn, selectorText, wide } from "./columns.ts";
import type { ApiObject, BuiltinKind, Column } from "./kind.ts";
import { defaultPodSpec, fill, objectsIn } from "./pod-defaults.ts";
import { validatePodSpec } from "./pod.ts";

const v1 = { group: "apps", version: "v1", namespaced: true };
const schema = (kind: string): string => `io.k8s.api.apps.v1.${kind}`;

const containers = (object: ApiObject): JsonObject[] =>
  objectsIn(valueAt(object, "spec", "template", "spec", "containers"));
const listOf = (key: string) => (object: ApiObject) =>
  containers(object)
    .map((item) => item[key])
    .join(",");

const templateColumns: readonly Column[] = [
  wide(computed("Containers", listOf("name"))),
  wide(computed("Images", listOf("image"))),
  wide(computed("Selector", (object) => selectorText(valueAt(object, "spec", "selector")))),
];

/** Workloads differ in their columns and strategy; what they share about templates and selectors is here. */
function defaultWorkload(object: ApiObject, defaults: JsonObject): JsonObject {
  const spec = isJsonObject(object["spec"]) ? object["spec"] : {};
  object["spec"] = spec;
  const template = isJsonObject(spec["template"]) ? spec["template"] : {};
  spec["template"] = template;
  if (!isJsonObject(template["metadata"])) template["metadata"] = {};
  if (!isJsonObject(template["spec"])) template["spec"] = {};
  defaultPodSpec(template["spec"] as JsonObject);
  fill(spec, defaults);
  return spec;
}

function validateWorkload(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object["spec"];
  const selector = valueAt(spec, "selector");
  const found: FieldError[] = [];
  const labels = valueAt(spec, "template", "metadata", "labels");
  const mismatch = "`selector` does not match template `labels`";
  if (!isJsonObject(selector)) {
    found.push(fieldError.required("spec.selector"));
    found.push(fieldError.invalid("spec.template.metadata.labels", labels ?? null, mismatch));
  } else if (Object.keys(selector).length === 0) {
    found.push(fieldError.invalid("spec.selector", selector, "empty selector is invalid for deployment"));
  } else if (!matchesSelector(selector, (labels ?? {}) as Record<string, string>)) {
    found.push(fieldError.invalid("spec.template.metadata.labels", labels ?? null, mismatch));
  }
  if (old !== undefined && !deepEqual(selector, valueAt(old, "spec", "selector"))) {
    found.push(fieldError.invalid("spec.selector", selector, "field is immutable"));
  }
  found.push(...validatePodSpec(valueAt(spec, "template", "spec"), "spec.template.spec"));
  const policy = valueAt(spec, "template", "spec", "restartPolicy");
  if (policy !== "Always") found.push(fieldError.notSupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  const replicas = valueAt(spec, "replicas");
  if (typeof replicas === "number" && replicas < 0) {
    found.push(fieldError.invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  return found;
}

const deployment: BuiltinKind = {
  ...v1,
  kind: "Deployment",
  description: "Keeps a number of equal pods running and replaces them step by step when their template changes.",
  plural: "deployments",
  schema: schema("Deployment"),
  shortNames: ["deploy"],
  categories: ["all"],
  subresources: ["status", "scale"],
  columns: [
    nameColumn,
    computed("Ready", (object) => `${number(object, "status", "readyReplicas")}/${number(object, "spec", "replicas")}`),
    numberColumn("Up-to-date", "status", "updatedReplicas"),
    numberColumn("Available", "status", "availableReplicas"),
    ageColumn,
    ...templateColumns,
  ],
  strategy: {
    countsGenerations: "with annotations",
    applyDefaults(object) {
      const spec = defaultWorkload(object, { revisionHistoryLimit: 10, progressDeadlineSeconds: 600 });
      spec["replicas"] ??= 1;
      if (!isJsonObject(spec["strategy"])) spec["strategy"] = {};
      const strategy = spec["strategy"] as JsonObject;
      fill(strategy, { type: "RollingUpdate" });
      if (strategy["type"] !== "RollingUpdate") return;
      const rolling = isJsonObject(strategy["rollingUpdate"]) ? strategy["rollingUpdate"] : {};
      strategy["rollingUpdate"] = { maxUnavailable: "25%", maxSurge: "25%", ...rolling };
    },
    validate: validateWorkload,
  },
};

const number = (object: ApiObject, ...path: string[]): number => {
  const value = valueAt(object, ...path);
  return typeof value === "number" ? value : 0;
};

const replicaSet: BuiltinKind = {
  ...v1,
  kind: "ReplicaSet",
  description: "Keeps a number of equal pods running; usually made by a Deployment.",
  plural: "replicasets",
  schema: schema("ReplicaSet"),
  shortNames: ["rs"],
  categories: ["all"],
  subresources: ["status", "scale"],
  columns: [
    nameColumn,
    numberColumn("Desired", "spec", "replicas"),
    numberColumn("Current", "status", "replicas"),
    numberColumn("Ready", "status", "readyReplicas"),
    ageColumn,
    ...templateColumns,
  ],
  strategy: {
    countsGenerations: true,
    applyDefaults(object) {
      const spec = defaultWorkload(object, {});
      spec["replicas"] ??= 1;
    },
    prepareCreate(object) {
      object["status"] = { replicas: 0 };
    },
    validate: validateWorkload,
  },
};

const daemonSet: BuiltinKind = {
  ...v1,
  kind: "DaemonSet",
  description: "Runs one pod on each node that fits.",
  plural: "daemonsets",
  schema: schema("DaemonSet"),
  shortNames: ["ds"],
  categories: ["all"],
  subresources: ["status"],
  columns: [
    nameColumn,
    numberColumn("Desired", "status", "desiredNumberScheduled"),
    numberColumn("Current", "status", "currentNumberScheduled"),
    numberColumn("Ready", "status", "numberReady"),
    numberColumn("Up-to-date", "status", "updatedNumberScheduled"),
    numberColumn("Available", "status", "numberAvailable"),
    computed("Node Selector", (object) => labelsText(valueAt(object, "spec", "template", "spec", "nodeSelector"))),
    ageColumn,
    ...templateColumns,
  ],
  strategy: {
    countsGenerations: true,
    applyDefaults(object) {
      const spec = defaultWorkload(object, { revisionHistoryLimit: 10 });
      if (!isJsonObject(spec["updateStrategy"])) spec["updateStrategy"] = {};
      const strategy = spec["updateStrategy"] as JsonObject;
      fill(strategy, { type: "RollingUpdate" });
      if (strategy["type"] !== "RollingUpdate") return;
      const rolling = isJsonObject(strategy["rollingUpdate"]) ? strategy["rollingUpdate"] : {};
      strategy["rollingUpdate"] = { maxUnavailable: 1, maxSurge: 0, ...rolling };
    },
    prepareCreate(object) {
      object["status"] = {
        currentNumberScheduled: 0,
        numberMisscheduled: 0,
        desiredNumberScheduled: 0,
        numberReady: 0,
      };
    },
    validate: validateWorkload,
  },
};

const controllerRevision: BuiltinKind = {
  ...v1,
  kind: "ControllerRevision",
  description: "An earlier state of a workload, kept so that it can be gone back to.",
  plural: "controllerrevisions",
  schema: schema("ControllerRevision"),
  columns: columns(
    computed("Controller", (object) => {
      const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
      if (owner === undefined) return "<none>";
      const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0]}` : "";
      return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
    }),
    numberColumn("Revision", "revision"),
  ),
  strategy: {
    validate: (object, old) =>
      old === undefined || deepEqual(object["data"], old["data"])
        ? []
        : [fieldError.invalid("data", object["data"], "field is immutable")],
  },
};

export const appsKinds: readonly BuiltinKind[] = [deployment, replicaSet, daemonSet, controllerRevision];
