import { fieldError, type FieldError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, valueAt, textOf } from "../json.ts";
import { ageColumn, ageOf, columns, computed, labelsText, nameColumn, textColumn, wide } from "./columns.ts";
import type { ApiObject, BuiltinKind } from "./kind.ts";
import { fill, objectsIn } from "./pod-defaults.ts";

const v1 = { group: "", version: "v1" };
const schema = (kind: string): string => `io.k8s.api.core.v1.${kind}`;
const count = (value: unknown): number => Object.keys(isJsonObject(value) ? value : {}).length;

const namespace: BuiltinKind = {
  ...v1,
  kind: "Namespace",
  description: "A part of the cluster with its own names; deleting it deletes what is in it.",
  plural: "namespaces",
  deletedSingly: true,
  namespaced: false,
  schema: schema("Namespace"),
  shortNames: ["ns"],
  subresources: ["status", "finalize"],
  columns: columns(textColumn("Status", "status", "phase")),
  strategy: {
    nameRule: "label",
    applyDefaults(object) {
      object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name ?? "" };
    },
    prepareCreate(object) {
      object["spec"] = { finalizers: ["kubernetes"] };
      object["status"] = { phase: "Active" };
    },
    prepareUpdate(object, old) {
      object["spec"] = old["spec"];
    },
    fields: (object) => ({ "status.phase": textOf(valueAt(object, "status", "phase")) }),
  },
};

const node: BuiltinKind = {
  ...v1,
  kind: "Node",
  description: "A machine, or a part of one, that runs pods.",
  plural: "nodes",
  namespaced: false,
  schema: schema("Node"),
  shortNames: ["no"],
  subresources: ["status"],
  columns: [
    nameColumn,
    computed("Status", nodeStatusText),
    computed("Roles", nodeRolesText),
    ageColumn,
    textColumn("Version", "status", "nodeInfo", "kubeletVersion"),
    wide(computed("Internal-IP", (object) => nodeAddress(object, "InternalIP"))),
    wide(computed("External-IP", (object) => nodeAddress(object, "ExternalIP"))),
    wide(textColumn("OS-Image", "status", "nodeInfo", "osImage")),
    wide(textColumn("Kernel-Version", "status", "nodeInfo", "kernelVersion")),
    wide(textColumn("Container-Runtime", "status", "nodeInfo", "containerRuntimeVersion")),
  ],
  strategy: {
    applyDefaults(object) {
      if (!isJsonObject(object["spec"])) object["spec"] = {};
    },
    fields: (object) => ({ "spec.unschedulable": textOf(valueAt(object, "spec", "unschedulable") ?? false) }),
  },
};

function nodeStatusText(object: ApiObject): string {
  const ready = objectsIn(valueAt(object, "status", "conditions")).find((condition) => condition["type"] === "Ready");
  const state = ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady";
  return valueAt(object, "spec", "unschedulable") === true ? `${state},SchedulingDisabled` : state;
}

function nodeRolesText(object: ApiObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.entries(object.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(prefix) && key !== prefix) return [key.slice(prefix.length)];
    return key === "kubernetes.io/role" && value !== "" ? [value] : [];
  });
  return roles.length === 0 ? "<none>" : roles.sort().join(",");
}

function nodeAddress(object: ApiObject, type: string): unknown {
  const found = objectsIn(valueAt(object, "status", "addresses")).find((address) => address["type"] === type);
  return found?.["address"] ?? "<none>";
}

const event: BuiltinKind = {
  ...v1,
  kind: "Event",
  description: "Something that happened to an object, for people to read; it is forgotten after a while.",
  plural: "events",
  namespaced: true,
  schema: schema("Event"),
  shortNames: ["ev"],
  columns: [
    computed("Last Seen", eventAge),
    textColumn("Type", "type"),
    textColumn("Reason", "reason"),
    computed("Object", (object) => {
      const kind = textOf(valueAt(object, "involvedObject", "kind")).toLowerCase();
      return `${kind}/${textOf(valueAt(object, "involvedObject", "name"))}`;
    }),
    wide(computed("Subobject", (object) => valueAt(object, "involvedObject", "fieldPath") ?? "")),
    wide(computed("Source", eventSource)),
    computed("Message", (object) => textOf(object["message"]).trim()),
    wide(computed("First Seen", (object, now) => ageOf(object["firstTimestamp"] ?? object["eventTime"], now))),
    wide(computed("Count", (object) => valueAt(object, "series", "count") ?? object["count"] ?? 1)),
    { ...wide(nameColumn), format: "name" },
  ],
  strategy: {
    optional: ["involvedObject", "metadata"],
    applyDefaults(object) {
      object["reportingComponent"] ??= "";
      object["reportingInstance"] ??= "";
      if (!isJsonObject(object["source"])) object["source"] = {};
    },
    validate(object) {
      const involved = textOf(valueAt(object, "involvedObject", "namespace"));
      const own = object.metadata.namespace ?? "";
      if (involved === own || (involved === "" && own === "default")) return [];
      return [fieldError.invalid("involvedObject.namespace", involved, "does not match event.namespace")];
    },
    fields: (object) => ({
      ...Object.fromEntries(
        ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((key) => [
          `involvedObject.${key}`,
          textOf(valueAt(object, "involvedObject", key)),
        ]),
      ),
      reason: textOf(object["reason"]),
      reportingComponent: textOf(object["reportingComponent"]) || textOf(valueAt(object, "source", "component")),
      source: textOf(valueAt(object, "source", "component")) || textOf(object["reportingComponent"]),
      type: textOf(object["type"]),
    }),
  },
};

function eventAge(object: ApiObject, now: number): string {
  const last = valueAt(object, "series", "lastObservedTime") ?? object["lastTimestamp"] ?? object["eventTime"];
  return ageOf(last, now);
}

function eventSource(object: ApiObject): string {
  const component = textOf(valueAt(object, "source", "component")) || textOf(object["reportingComponent"]);
  const host = textOf(valueAt(object, "source", "host")) || textOf(object["reportingInstance"]);
  return host === "" ? component : `${component}, ${host}`;
}

const secret: BuiltinKind = {
  ...v1,
  kind: "Secret",
  description: "Small pieces of data that not everyone should see.",
  plural: "secrets",
  namespaced: true,
  schema: schema("Secret"),
  columns: columns(textColumn("Type", "type"), {
    name: "Data",
    type: "integer",
    value: (object) => count(object["data"]),
  }),
  strategy: {
    applyDefaults(object) {
      fill(object, { type: "Opaque" });
      const plain = object["stringData"];
      if (!isJsonObject(plain)) return;
      const encoded = Object.entries(plain).map(([key, value]) => [key, Buffer.from(textOf(value)).toString("base64")]);
      object["data"] = { ...(isJsonObject(object["data"]) ? object["data"] : {}), ...Object.fromEntries(encoded) };
      delete object["stringData"];
    },
    validate: (object, old) => [
      ...validateDataKeys(object, ["data"]),
      ...validateImmutable(object, old, "type", ["data"]),
    ],
    fields: (object) => ({ type: textOf(object["type"]) }),
  },
};

const configMap: BuiltinKind = {
  ...v1,
  kind: "ConfigMap",
  description: "Settings that pods read as files or environment variables.",
  plural: "configmaps",
  namespaced: true,
  schema: schema("ConfigMap"),
  shortNames: ["cm"],
  columns: columns({
    name: "Data",
    type: "integer",
    value: (object) => count(object["data"]) + count(object["binaryData"]),
  }),
  strategy: {
    validate: (object, old) => [
      ...validateDataKeys(object, ["data", "binaryData"]),
      ...validateImmutable(object, old, undefined, ["data", "binaryData"]),
    ],
  },
};

const dataLimit = 1024 * 1024;

function validateDataKeys(object: ApiObject, lists: readonly string[]): FieldError[] {
  const found: FieldError[] = [];
  let size = 0;
  for (const list of lists) {
    for (const [key, value] of Object.entries(isJsonObject(object[list]) ? object[list] : {})) {
      // Secrets and binary data count as the bytes that they stand for.
      size += Buffer.byteLength(textOf(value), list === "data" && lists.length > 1 ? "utf8" : "base64");
      if (/^[-._a-zA-Z0-9]{1,253}$/.test(key) && key !== "." && key !== "..") continue;
      const rule =
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
      found.push(fieldError.invalid(`${list}[${key}]`, key, rule));
    }
  }
  if (size > dataLimit) found.push(fieldError.tooLong(lists.length === 1 ? "data" : "[]", dataLimit));
  return found;
}

function validateImmutable(
  object: ApiObject,
  old: ApiObject | undefined,
  frozen: string | undefined,
  lists: readonly string[],
): FieldError[] {
  if (old === undefined) return [];
  const found: FieldError[] = [];
  if (frozen !== undefined && object[frozen] !== old[frozen]) {
    found.push(fieldError.invalid(frozen, object[frozen], "field is immutable"));
  }
  if (old["immutable"] !== true) return found;
  if (object["immutable"] !== true)
    found.push(fieldError.forbidden("immutable", "field is immutable when `immutable` is set"));
  for (const list of lists) {
    if (!deepEqual(object[list] ?? {}, old[list] ?? {})) {
      found.push(fieldError.forbidden(list, "field is immutable when `immutable` is set"));
    }
  }
  return found;
}

const serviceAccount: BuiltinKind = {
  ...v1,
  kind: "ServiceAccount",
  description: "The identity of programs that run in pods.",
  plural: "serviceaccounts",
  namespaced: true,
  schema: schema("ServiceAccount"),
  shortNames: ["sa"],
  subresources: ["token"],
  columns: columns(),
};

const serviceTypes = ["ClusterIP", "ExternalName"];

const service: BuiltinKind = {
  ...v1,
  kind: "Service",
  description: "A name under which clients reach the pods that its selector selects.",
  plural: "services",
  namespaced: true,
  schema: schema("Service"),
  shortNames: ["svc"],
  categories: ["all"],
  subresources: ["status"],
  columns: [
    nameColumn,
    textColumn("Type", "spec", "type"),
    textColumn("Cluster-IP", "spec", "clusterIP"),
    computed("External-IP", (object) => valueAt(object, "spec", "externalName") ?? "<none>"),
    computed("Port(s)", servicePortsText),
    ageColumn,
    wide(computed("Selector", (object) => labelsText(valueAt(object, "spec", "selector")))),
  ],
  strategy: {
    nameRule: "label",
    // A port that is missing is 0, and told as such.
    optional: ["spec.ports.port"],
    applyDefaults(object) {
      const spec = isJsonObject(object["spec"]) ? object["spec"] : {};
      object["spec"] = spec;
      fill(spec, { type: "ClusterIP", sessionAffinity: "None" });
      if (spec["type"] === "ClusterIP") {
        // Nothing here translates virtual addresses: a name resolves to the pods themselves.
        fill(spec, { clusterIP: "None", internalTrafficPolicy: "Cluster", ipFamilyPolicy: "SingleStack" });
        spec["clusterIPs"] ??= ["None"];
        spec["ipFamilies"] ??= ["IPv4"];
      }
      for (const port of objectsIn(spec["ports"])) {
        fill(port, { protocol: "TCP" });
        port["targetPort"] ??= port["port"];
      }
      if (!isJsonObject(object["status"])) object["status"] = { loadBalancer: {} };
    },
    validate(object) {
      const spec = valueAt(object, "spec");
      const type = textOf(valueAt(spec, "type"));
      const found: FieldError[] = [];
      if (!serviceTypes.includes(type)) found.push(fieldError.notSupported("spec.type", type, serviceTypes));
      const ports = objectsIn(valueAt(spec, "ports"));
      ports.forEach((port, index) => {
        for (const key of ["port", "targetPort"]) {
          const number = port[key];
          if (typeof number === "number" && (number < 1 || number > 65_535))
            found.push(
              fieldError.invalid(`spec.ports[${index}].${key}`, number, "must be between 1 and 65535, inclusive"),
            );
        }
        if (ports.length > 1 && textOf(port["name"]) === "")
          found.push(fieldError.required(`spec.ports[${index}].name`));
      });
      return found;
    },
    fields: (object) => ({
      "spec.clusterIP": textOf(valueAt(object, "spec", "clusterIP")),
      "spec.type": textOf(valueAt(object, "spec", "type")),
    }),
  },
};

function servicePortsText(object: ApiObject): string {
  const ports = objectsIn(valueAt(object, "spec", "ports"));
  return ports.length === 0
    ? "<none>"
    : ports.map((port) => `${String(port["port"])}/${textOf(port["protocol"])}`).join(",");
}

export const coreKinds: readonly BuiltinKind[] = [namespace, node, event, secret, configMap, serviceAccount, service];
