import { compareQuantities, isQuantity, parseQuantity } from "@polyvirt/core";

import { fieldError, type FieldError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, valueAt, type JsonObject, textOf } from "../json.ts";
import { ageColumn, ageOf, computed, nameColumn, textColumn, wide } from "./columns.ts";
import { validateName } from "../registry/object-names.ts";
import type { ApiObject, BuiltinKind } from "./kind.ts";
import { defaultPodSpec, defaultRequests, fill, objectsIn } from "./pod-defaults.ts";

export const pod: BuiltinKind = {
  group: "",
  version: "v1",
  kind: "Pod",
  description: "Containers that run together on one node and share its addresses and volumes.",
  plural: "pods",
  namespaced: true,
  schema: "io.k8s.api.core.v1.Pod",
  shortNames: ["po"],
  categories: ["all"],
  subresources: ["status", "binding", "eviction", "log", "exec", "attach", "portforward", "ephemeralcontainers"],
  columns: [
    nameColumn,
    computed("Ready", readyText),
    computed("Status", statusText),
    computed("Restarts", restartsText),
    ageColumn,
    wide(textColumn("IP", "status", "podIP")),
    wide(textColumn("Node", "spec", "nodeName")),
    wide(textColumn("Nominated Node", "status", "nominatedNodeName")),
    wide(computed("Readiness Gates", readinessGatesText)),
  ],
  strategy: {
    countsGenerations: true,
    applyDefaults(object) {
      if (!isJsonObject(object["spec"])) object["spec"] = {};
      defaultPodSpec(object["spec"] as JsonObject);
      defaultRequests(object["spec"] as JsonObject);
      fill(object["spec"] as JsonObject, { enableServiceLinks: true });
      if (valueAt(object, "spec", "hostNetwork") === true) defaultHostPorts(object["spec"] as JsonObject);
    },
    prepareCreate(object) {
      object["status"] = { phase: "Pending", qosClass: qosClass(object) };
    },
    validate: (object, old) => [
      ...validatePodSpec(object["spec"], "spec"),
      ...(old === undefined ? [] : validateUpdate(object, old)),
    ],
    fields: (object) => ({
      "spec.nodeName": textOf(valueAt(object, "spec", "nodeName")),
      "spec.restartPolicy": textOf(valueAt(object, "spec", "restartPolicy")),
      "spec.schedulerName": textOf(valueAt(object, "spec", "schedulerName")),
      "spec.serviceAccountName": textOf(valueAt(object, "spec", "serviceAccountName")),
      "spec.hostNetwork": textOf(valueAt(object, "spec", "hostNetwork") ?? false),
      "status.phase": textOf(valueAt(object, "status", "phase")),
      "status.podIP": textOf(valueAt(object, "status", "podIP")),
      "status.nominatedNodeName": textOf(valueAt(object, "status", "nominatedNodeName")),
    }),
  },
};

function defaultHostPorts(spec: JsonObject): void {
  for (const container of [...objectsIn(spec["containers"]), ...objectsIn(spec["initContainers"])]) {
    for (const port of objectsIn(container["ports"]))
      if (port["hostPort"] === undefined) port["hostPort"] = port["containerPort"];
  }
}

/** Guaranteed: every container's cpu and memory are limited to what it requests. BestEffort: none asks for anything. */
function qosClass(object: ApiObject): string {
  const containers = [
    ...objectsIn(valueAt(object, "spec", "containers")),
    ...objectsIn(valueAt(object, "spec", "initContainers")),
  ];
  const amounts = containers.map((container) => ({
    requests: pick(valueAt(container, "resources", "requests")),
    limits: pick(valueAt(container, "resources", "limits")),
  }));
  if (amounts.every(({ requests, limits }) => Object.keys({ ...requests, ...limits }).length === 0))
    return "BestEffort";
  const guaranteed = amounts.every(
    ({ requests, limits }) => Object.keys(limits).length === 2 && deepEqual(requests, limits),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

function pick(resources: unknown): JsonObject {
  const entries = Object.entries(isJsonObject(resources) ? resources : {});
  return Object.fromEntries(entries.filter(([name, amount]) => ["cpu", "memory"].includes(name) && amount !== "0"));
}

const pullPolicies = ["Always", "IfNotPresent", "Never"];

export function validatePodSpec(spec: unknown, field: string): FieldError[] {
  const found: FieldError[] = [];
  const containers = objectsIn(valueAt(spec, "containers"));
  if (containers.length === 0) found.push(fieldError.required(`${field}.containers`));
  const volumes = new Set(objectsIn(valueAt(spec, "volumes")).map((volume) => volume["name"]));
  for (const list of ["initContainers", "containers"]) {
    const names = new Set<unknown>();
    objectsIn(valueAt(spec, list)).forEach((container, index) => {
      const place = `${field}.${list}[${index}]`;
      if (names.has(container["name"])) found.push(fieldError.duplicate(`${place}.name`, container["name"]));
      names.add(container["name"]);
      found.push(
        ...validateName("label", textOf(container["name"]), `${place}.name`).filter(
          () => textOf(container["name"]) !== "",
        ),
      );
      if (textOf(container["image"]) === "") found.push(fieldError.required(`${place}.image`));
      const pull = textOf(container["imagePullPolicy"]);
      if (!pullPolicies.includes(pull))
        found.push(fieldError.notSupported(`${place}.imagePullPolicy`, pull, pullPolicies));
      const checks = [
        validatePorts(container, place),
        validateEnvironment(container, place),
        validateResources(container, place),
      ];
      found.push(...checks.flat(), ...validateMounts(container, volumes, place));
    });
  }
  const policy = valueAt(spec, "restartPolicy");
  if (!["Always", "OnFailure", "Never"].includes(textOf(policy))) {
    found.push(fieldError.notSupported(`${field}.restartPolicy`, policy, ["Always", "OnFailure", "Never"]));
  }
  return found;
}

function validatePorts(container: JsonObject, place: string): FieldError[] {
  return objectsIn(container["ports"]).flatMap(({ containerPort: port }, index) =>
    typeof port === "number" && port > 0 && port < 65_536
      ? []
      : [fieldError.invalid(`${place}.ports[${index}].containerPort`, port, "must be between 1 and 65535, inclusive")],
  );
}

function validateEnvironment(container: JsonObject, place: string): FieldError[] {
  const rule = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return objectsIn(container["env"]).flatMap(({ name }, index) =>
    /^[ -<>-~]+$/.test(textOf(name)) ? [] : [fieldError.invalid(`${place}.env[${index}].name`, name, rule)],
  );
}

function validateResources(container: JsonObject, place: string): FieldError[] {
  const { requests, limits } = isJsonObject(container["resources"]) ? container["resources"] : {};
  return Object.entries(isJsonObject(requests) ? requests : {}).flatMap(([name, request]) => {
    const limit = valueAt(limits, name);
    if (limit === undefined || !exceeds(textOf(request), textOf(limit))) return [];
    const rule = `must be less than or equal to ${name} limit of ${textOf(limit)}`;
    return [fieldError.invalid(`${place}.resources.requests`, request, rule)];
  });
}

const exceeds = (request: string, limit: string): boolean =>
  isQuantity(request) && isQuantity(limit) && compareQuantities(parseQuantity(request), parseQuantity(limit)) > 0;

function validateMounts(container: JsonObject, volumes: ReadonlySet<unknown>, place: string): FieldError[] {
  const paths = new Set<unknown>();
  return objectsIn(container["volumeMounts"]).flatMap((mount, index) => {
    const field = `${place}.volumeMounts[${index}]`;
    const found: FieldError[] = [];
    if (!volumes.has(mount["name"])) {
      found.push({
        field: `${field}.name`,
        reason: "FieldValueNotFound",
        message: `Not found: ${JSON.stringify(mount["name"])}`,
      });
    }
    if (paths.has(mount["mountPath"])) {
      found.push(fieldError.invalid(`${field}.mountPath`, mount["mountPath"], "must be unique"));
    }
    paths.add(mount["mountPath"]);
    return found;
  });
}

const mutable = [
  "activeDeadlineSeconds",
  "tolerations",
  "terminationGracePeriodSeconds",
  "schedulingGates",
  "ephemeralContainers",
];

/** After creation only images, some limits of time, and additional tolerations may change. */
function validateUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  if (deepEqual(frozenPart(object["spec"]), frozenPart(old["spec"]))) return [];
  return [
    fieldError.forbidden(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    ),
  ];
}

function withoutImage(container: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(container).filter(([key]) => key !== "image"));
}

function frozenPart(spec: unknown): unknown {
  if (!isJsonObject(spec)) return spec;
  const rest = Object.fromEntries(Object.entries(spec).filter(([key]) => !mutable.includes(key)));
  for (const list of ["containers", "initContainers"]) {
    if (rest[list] !== undefined) rest[list] = objectsIn(rest[list]).map(withoutImage);
  }
  return rest;
}

interface ContainerStatus {
  name?: string;
  ready?: boolean;
  started?: boolean;
  restartCount?: number;
  state?: {
    waiting?: { reason?: string };
    running?: object;
    terminated?: { reason?: string; signal?: number; exitCode?: number; finishedAt?: string };
  };
  lastState?: { terminated?: { finishedAt?: string } };
}

/** Statuses come from a kubelet and follow the schema, which this reads loosely. */
const statuses = (object: ApiObject, list: string): ContainerStatus[] => objectsIn(valueAt(object, "status", list));

const isSidecar = (object: ApiObject, name: string | undefined): boolean =>
  objectsIn(valueAt(object, "spec", "initContainers")).some(
    (container) => container["name"] === name && container["restartPolicy"] === "Always",
  );

function readyText(object: ApiObject): string {
  const sidecars = statuses(object, "initContainerStatuses").filter((status) => isSidecar(object, status.name));
  const total =
    objectsIn(valueAt(object, "spec", "containers")).length +
    objectsIn(valueAt(object, "spec", "initContainers")).filter((container) => container["restartPolicy"] === "Always")
      .length;
  const ready = [...statuses(object, "containerStatuses"), ...sidecars].filter(
    (status) => status.ready === true && status.state?.running !== undefined,
  );
  return `${ready.length}/${total}`;
}

function terminatedText({ reason, signal, exitCode }: { reason?: string; signal?: number; exitCode?: number }): string {
  if (reason !== undefined && reason !== "") return reason;
  return signal !== undefined && signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}

function initText(object: ApiObject): string | undefined {
  const init = statuses(object, "initContainerStatuses");
  const total = objectsIn(valueAt(object, "spec", "initContainers")).length;
  for (const [index, status] of init.entries()) {
    const { waiting, terminated } = status.state ?? {};
    if (terminated !== undefined && terminated.exitCode === 0) continue;
    if (isSidecar(object, status.name) && status.started === true) continue;
    if (terminated !== undefined) return `Init:${terminatedText(terminated)}`;
    if (waiting?.reason !== undefined && waiting.reason !== "PodInitializing") return `Init:${waiting.reason}`;
    return `Init:${index}/${total}`;
  }
  return undefined;
}

function statusText(object: ApiObject): string {
  const phase = textOf(valueAt(object, "status", "reason")) || textOf(valueAt(object, "status", "phase")) || "Unknown";
  const initializing = initText(object);
  let result = initializing ?? phase;
  if (initializing === undefined) {
    let running = false;
    for (const status of statuses(object, "containerStatuses").reverse()) {
      const { waiting, terminated, running: run } = status.state ?? {};
      if (waiting?.reason !== undefined) result = waiting.reason;
      else if (terminated !== undefined) result = terminatedText(terminated);
      else if (status.ready === true && run !== undefined) running = true;
    }
    if (result === "Completed" && running) result = "Running";
  }
  if (result === "Pending" && objectsIn(valueAt(object, "spec", "schedulingGates")).length > 0)
    result = "SchedulingGated";
  if (object.metadata.deletionTimestamp !== undefined) {
    return valueAt(object, "status", "reason") === "NodeLost" ? "Unknown" : "Terminating";
  }
  return result;
}

function restartsText(object: ApiObject, now: number): string {
  const all = [...statuses(object, "containerStatuses"), ...statuses(object, "initContainerStatuses")];
  const restarts = all.reduce((sum, status) => sum + (status.restartCount ?? 0), 0);
  const last = all
    .map((status) => status.lastState?.terminated?.finishedAt)
    .filter((time) => time !== undefined)
    .sort()
    .at(-1);
  return restarts === 0 || last === undefined ? `${restarts}` : `${restarts} (${ageOf(last, now)} ago)`;
}

function readinessGatesText(object: ApiObject): string {
  const gates = objectsIn(valueAt(object, "spec", "readinessGates"));
  if (gates.length === 0) return "<none>";
  const conditions = objectsIn(valueAt(object, "status", "conditions"));
  const met = gates.filter((gate) =>
    conditions.some((condition) => condition["type"] === gate["conditionType"] && condition["status"] === "True"),
  );
  return `${met.length}/${gates.length}`;
}
