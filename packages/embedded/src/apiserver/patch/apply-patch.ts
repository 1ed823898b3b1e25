import { applyJsonPatch, applyMergePatch, checkPatch, describeError, hasCode } from "@polyvirt/core";

import { badRequest, StatusError, unsupportedMediaType, unsupportedPatchType } from "../http/status-error.ts";
import { isJsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { rootSchema } from "../managed-fields/root-schema.ts";
import type { Resource } from "../registry/resource.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

export type PatchType = "json" | "merge" | "strategic" | "apply";

const mediaTypes: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

export function patchTypeOf(resource: Resource, contentType: string): PatchType {
  const type = mediaTypes[contentType.split(";")[0]?.trim() ?? ""];
  if (type === undefined) throw unsupportedPatchType();
  if (type === "strategic" && !resource.typed)
    throw unsupportedMediaType(Object.keys(mediaTypes).filter((name) => !name.includes("strategic")));
  return type;
}

const maxOperations = 10_000;

/** The patched copy of an object; what comes out is still unread JSON. */
export function applyPatch(
  resource: Resource,
  current: ApiObject,
  type: Exclude<PatchType, "apply">,
  patch: unknown,
): unknown {
  switch (type) {
    case "json":
      return patchByOperations(current, patch);
    case "merge":
      if (!isJsonObject(patch)) throw badRequest(`error decoding patch: ${notAnObject(patch)}`);
      return applyMergePatch<unknown>(current, patch);
    case "strategic":
      if (!isJsonObject(patch)) throw badRequest(notAnObject(patch));
      return applyStrategicMergePatch(current, patch, rootSchema(resource));
  }
}

function patchByOperations(current: ApiObject, patch: unknown): unknown {
  if (Array.isArray(patch) && patch.length > maxOperations) {
    throw new StatusError(
      413,
      "RequestEntityTooLarge",
      `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`,
    );
  }
  try {
    return applyJsonPatch<unknown>(current, checkPatch(patch));
  } catch (error) {
    if (hasCode(error, "JsonPatchNotApplicable")) throw notApplicable(error.message);
    if (Array.isArray(patch) && patch.every(isJsonObject)) throw notApplicable(describeError(error));
    throw badRequest(`error decoding patch: ${describeError(error)}`);
  }
}

const notAnObject = (value: unknown): string =>
  `json: cannot unmarshal ${Array.isArray(value) ? "array" : typeof value} into Go value of type map[string]interface {}`;

/** Kubernetes keeps the reason to itself; knowing it helps whoever wrote the patch. */
function notApplicable(why: string): StatusError {
  return new StatusError(422, "Invalid", `the server rejected our request due to an error in our request: ${why}`, {});
}
