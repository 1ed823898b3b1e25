import { badRequest, conflict, methodNotAllowed } from "../http/status-error.ts";
import { isJsonObject, valueAt, type JsonObject } from "../json.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { timestamp } from "../registry/objects.ts";
import type { ResourceDeps } from "./resource-call.ts";
import type { SubresourceHandler } from "./resource-route.ts";

/** A scheduler gives a pod its node, once. */
export function podBinding({ objects, clock }: Pick<ResourceDeps, "objects" | "clock">): SubresourceHandler {
  return async (call, verb) => {
    const { exchange, resource, namespace, target } = call;
    if (verb !== "create") throw methodNotAllowed();
    const { value } = await exchange.parsedBody();
    const node = valueAt(value, "target", "name");
    if (typeof node !== "string" || node === "") throw badRequest("target.name: Required value");
    const uid = valueAt(value, "metadata", "uid");
    const { name } = target;
    await objects.update(exchange.context(), {
      resource,
      namespace,
      name,
      subresource: "binding",
      change(pod) {
        // Pods have a spec once they are stored.
        const spec = pod["spec"] as JsonObject;
        if (typeof uid === "string" && uid !== "" && uid !== pod.metadata.uid) {
          throw conflict(
            resource,
            name,
            `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`,
          );
        }
        if (pod.metadata.deletionTimestamp !== undefined)
          throw conflict(resource, name, `pod ${name} is being deleted, cannot be assigned to a host`);
        if (typeof spec["nodeName"] === "string" && spec["nodeName"] !== "") {
          throw conflict(resource, name, `pod ${name} is already assigned to node ${JSON.stringify(spec["nodeName"])}`);
        }
        const annotations = valueAt(value, "metadata", "annotations");
        if (isJsonObject(annotations)) {
          // Annotations are strings; the store's schema checks them again.
          pod.metadata.annotations = { ...pod.metadata.annotations, ...(annotations as Record<string, string>) };
        }
        return {
          ...pod,
          spec: { ...spec, nodeName: node },
          status: scheduledStatus(pod["status"], timestamp(clock.now())),
        };
      },
    });
    exchange.send(201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, call.format);
  };
}

function scheduledStatus(status: unknown, now: string): JsonObject {
  const before = isJsonObject(status) ? status : {};
  const others = objectsIn(before["conditions"]).filter((condition) => condition["type"] !== "PodScheduled");
  return {
    ...before,
    conditions: [...others, { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now }],
  };
}
