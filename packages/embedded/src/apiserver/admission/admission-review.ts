import { randomUUID } from "node:crypto";

import { textOf, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "../registry/resource.ts";
import { userJson } from "../routes/reviews.ts";
import type { AdmissionRequest } from "./admission.ts";

const optionKinds = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
  CONNECT: "ConnectOptions",
} as const;

/** A request as webhooks and policies see it, without its objects; in the version of the resource that they asked for. */
export function admissionRequestJson(resource: Resource, request: AdmissionRequest): JsonObject {
  const { context, subresource, operation, namespace, name, object, options } = request;
  const kindOf = ({ group, version, kind }: Resource): JsonObject => ({ group, version, kind });
  const resourceOf = ({ group, version, plural }: Resource): JsonObject => ({ group, version, resource: plural });
  return {
    uid: randomUUID(),
    kind: kindOf(resource),
    resource: resourceOf(resource),
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: kindOf(request.resource),
    requestResource: resourceOf(request.resource),
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    name: operation === "CREATE" ? textOf(valueAt(object, "metadata", "name")) : name,
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: userJson(context.user),
    dryRun: context.dryRun,
    options: { kind: optionKinds[operation], apiVersion: "meta.k8s.io/v1", ...options },
  };
}

/** The object in that version; null is how JSON says that there is none. */
export const objectIn = (resource: Resource, object: ApiObject | undefined): ApiObject | null =>
  object === undefined ? null : { ...object, apiVersion: resource.apiVersion };
