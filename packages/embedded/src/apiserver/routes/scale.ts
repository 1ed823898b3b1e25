import { applyMergePatch } from "@polyvirt/core";

import { badRequest, fieldError, invalid, methodNotAllowed } from "../http/status-error.ts";
import { copyJson, isJsonObject, valueAt, type JsonObject } from "../json.ts";
import { ageColumn, nameColumn, selectorText } from "../kinds/columns.ts";
import type { ApiObject, Column } from "../kinds/kind.ts";
import { applyPatch, patchTypeOf } from "../patch/apply-patch.ts";
import type { Resource, ScalePaths } from "../registry/resource.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import type { SubresourceHandler } from "./resource-route.ts";
import { sendObject } from "./send-object.ts";

/** The number of replicas of any workload, in one form for all of them. */
export function scaleSubresource(deps: Pick<ResourceDeps, "objects" | "clock">): SubresourceHandler {
  const { objects } = deps;
  return async (call, verb) => {
    const { exchange, resource, namespace, target } = call;
    const paths = pathsOf(resource);
    const { name } = target;
    const send = (object: ApiObject) =>
      sendObject(deps, { ...call, resource: { ...resource, columns: scaleColumns } }, 200, scaleOf(object, paths));
    if (verb === "get") return send(objects.get(resource, namespace, name));
    if (verb !== "update" && verb !== "patch") throw methodNotAllowed();
    const wanted = await wantedScale(call, verb);
    const object = await objects.update(exchange.context(), {
      resource,
      namespace,
      name,
      subresource: "",
      trackedAs: "scale",
      change(current) {
        const scale = wanted(scaleOf(current, paths));
        const replicas = valueAt(scale, "spec", "replicas") ?? 0;
        if (typeof replicas !== "number" || !Number.isInteger(replicas) || replicas < 0) {
          throw invalid({ group: "autoscaling", kind: "Scale" }, name, [
            fieldError.invalid("spec.replicas", replicas, "must be greater than or equal to 0"),
          ]);
        }
        const version = valueAt(scale, "metadata", "resourceVersion");
        const result = setAt(current, paths.specReplicas, replicas);
        if (typeof version === "string" && version !== "") result.metadata.resourceVersion = version;
        return result;
      },
    });
    return send(object);
  };
}

const scaleColumns: readonly Column[] = [
  nameColumn,
  { name: "Desired", type: "integer", value: (object) => valueAt(object, "spec", "replicas") },
  { name: "Available", type: "integer", value: (object) => valueAt(object, "status", "replicas") },
  ageColumn,
];

function pathsOf(resource: Resource): ScalePaths {
  if (resource.scale === undefined) throw methodNotAllowed();
  return resource.scale;
}

async function wantedScale(call: Call, verb: string): Promise<(current: ApiObject) => unknown> {
  const { exchange, resource } = call;
  if (verb === "update") {
    const { value } = await exchange.parsedBody();
    if (!isJsonObject(value)) throw badRequest("the body is not a Scale");
    return () => value;
  }
  const type = patchTypeOf({ ...resource, typed: true }, exchange.request.headers["content-type"] ?? "");
  const { value } = await exchange.parsedBody();
  // A scale has no lists, so that applying, strategic merging and merging are one.
  return (current) =>
    type === "json" ? applyPatch(resource, current, "json", value) : applyMergePatch<unknown>(current, value);
}

function scaleOf(object: ApiObject, paths: ScalePaths): ApiObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = paths.selector === undefined ? undefined : valueAt(object, ...paths.selector);
  const text = typeof selector === "string" ? selector : selector === undefined ? undefined : selectorText(selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { replicas: valueAt(object, ...paths.specReplicas) ?? 0 },
    status: {
      replicas: valueAt(object, ...paths.statusReplicas) ?? 0,
      ...(text === undefined ? {} : { selector: text }),
    },
  };
}

function setAt(object: ApiObject, path: readonly string[], value: unknown): ApiObject {
  const result = copyJson(object);
  let place: JsonObject = result;
  for (const key of path.slice(0, -1)) {
    const child = isJsonObject(place[key]) ? place[key] : {};
    place[key] = child;
    place = child;
  }
  place[path.at(-1) ?? ""] = value;
  return result;
}
