import { applyJsonPatch, applyMergePatch, checkPatch, describeError, hasCode } from "@polyvirt/core";

import { badRequest, StatusError, unsupportedMediaType } from "../http/status-error.ts";
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
  if (type === undefined || (type === "strategic" && !resource.typed)) {
    throw unsupportedMediaType(Object.keys(mediaTypes).filter((name) => resource.typed || !name.includes("strategic")));
  }
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
      return applyMergePatch<unknown>(current, patch);
    case "strategic":
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
    if (hasCode(error, "JsonPatchNotApplicable")) {
      const message = `the server rejected our request due to an error in our request: ${error.message}`;
      throw new StatusError(422, "Invalid", message, {});
    }
    throw badRequest(`error decoding patch: ${describeError(error)}`);
  }
}
