import { randomBytes } from "node:crypto";

import { forbidden } from "../http/status-error.ts";
import { isJsonObject, valueAt, type JsonObject } from "../json.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Admission } from "./admission.ts";

const tokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const mirrorAnnotation = "kubernetes.io/config.mirror";

/** Gives a pod its identity: the service account, and a volume with its token, the cluster's CA and the namespace. */
export function serviceAccountAdmission(objects: Objects, serviceAccounts: Resource): Partial<Admission> {
  return {
    async mutate({ resource, subresource, operation, namespace, name, object }) {
      if (object === undefined) throw new TypeError("mutation without an object");
      if (resource.bucket !== "pods" || subresource !== "" || operation !== "CREATE") return object;
      if (object.metadata.annotations?.[mirrorAnnotation] !== undefined) return object;
      // Pods have a spec once defaults were filled in.
      const spec = object["spec"] as JsonObject;
      const account =
        typeof spec["serviceAccountName"] === "string" && spec["serviceAccountName"] !== ""
          ? spec["serviceAccountName"]
          : "default";
      spec["serviceAccountName"] = account;
      spec["serviceAccount"] = account;
      const found = objects.find(serviceAccounts, namespace, account);
      if (found === undefined) {
        throw forbidden(
          resource,
          name,
          `error looking up service account ${namespace}/${account}: serviceaccount ${JSON.stringify(account)} not found`,
        );
      }
      const automount = spec["automountServiceAccountToken"] ?? found["automountServiceAccountToken"] ?? true;
      if (automount === true) mountToken(spec);
      return object;
    },
  };
}

function mountToken(spec: JsonObject): void {
  const containers = [...objectsIn(spec["containers"]), ...objectsIn(spec["initContainers"])];
  const needing = containers.filter(
    (container) => !objectsIn(container["volumeMounts"]).some((mount) => mount["mountPath"] === tokenMountPath),
  );
  if (needing.length === 0) return;
  const name = `kube-api-access-${randomBytes(4).toString("hex").slice(0, 5)}`;
  spec["volumes"] = [...objectsIn(spec["volumes"]), tokenVolume(name)];
  for (const container of needing) {
    container["volumeMounts"] = [
      ...objectsIn(container["volumeMounts"]),
      { name, mountPath: tokenMountPath, readOnly: true },
    ];
  }
}

function tokenVolume(name: string): JsonObject {
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
    },
  };
}

const notReady = {
  key: "node.kubernetes.io/not-ready",
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
};
const unreachable = { ...notReady, key: "node.kubernetes.io/unreachable" };

/** A pod stays five minutes on a node that stopped answering, unless it says otherwise; and it gets its priority. */
export function podAdmission(objects: Objects, priorityClasses: Resource): Partial<Admission> {
  return {
    async mutate({ resource, subresource, operation, name, object }) {
      if (object === undefined) throw new TypeError("mutation without an object");
      if (resource.bucket !== "pods" || subresource !== "" || operation !== "CREATE") return object;
      const spec = object["spec"] as JsonObject;
      const tolerations = objectsIn(spec["tolerations"]);
      const missing = [notReady, unreachable].filter(({ key }) => !tolerations.some((item) => tolerates(item, key)));
      if (missing.length > 0) spec["tolerations"] = [...tolerations, ...missing];
      const className = spec["priorityClassName"];
      if (typeof className === "string" && className !== "") {
        const found = objects.find(priorityClasses, "", className);
        if (found === undefined) throw forbidden(resource, name, `no PriorityClass with name ${className} was found`);
        spec["priority"] = valueAt(found, "value") ?? 0;
        spec["preemptionPolicy"] ??= valueAt(found, "preemptionPolicy") ?? "PreemptLowerPriority";
      } else {
        const fallback = objects.list(priorityClasses).find((item) => item["globalDefault"] === true);
        if (fallback !== undefined) spec["priorityClassName"] = fallback.metadata.name;
        spec["priority"] = isJsonObject(fallback) ? (fallback["value"] ?? 0) : 0;
        spec["preemptionPolicy"] ??= "PreemptLowerPriority";
      }
      return object;
    },
  };
}

function tolerates(toleration: JsonObject, key: string): boolean {
  const { effect } = toleration;
  const keyMatches =
    toleration["key"] === key || (toleration["key"] === undefined && toleration["operator"] === "Exists");
  return keyMatches && (effect === undefined || effect === "" || effect === "NoExecute");
}
