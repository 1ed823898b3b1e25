import {
  fieldError,
  invalid,
  invalidOptions,
  methodNotAllowed,
  nameMissing,
  StatusError,
} from "../http/status-error.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { goMapText } from "../patch/go-map-text.ts";
import { applyPatch, patchTypeOf, type PatchType } from "../patch/apply-patch.ts";
import { decodeObject } from "../registry/decode.ts";
import type { Resource } from "../registry/resource.ts";
import { handleApply } from "./handle-apply.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import { sendObject } from "./send-object.ts";

/** Changes an object by a patch of any type; server-side apply has a way of its own. */
export async function handlePatch(deps: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  const { name, subresource } = target;
  const type = patchTypeOf(resource, exchange.request.headers["content-type"] ?? "");
  if (name === "") throw methodNotAllowed();
  const { value, duplicates } = await exchange.parsedBody();
  if (type === "apply") return handleApply(deps, call, value);
  if (exchange.query.has("force")) {
    const error = fieldError.forbidden("force", "may not be specified for non-apply patch");
    throw invalidOptions("PatchOptions", error);
  }
  const context = exchange.context();
  const change = (current: ApiObject): ApiObject => {
    const patched = applyPatch(resource, current, type satisfies PatchType, value);
    const object = decodePatched(resource, patched, type, value, () =>
      decodeObject(resource, patched, context, { duplicates }),
    );
    checkIdentityKept(resource, current, object);
    return object;
  };
  sendObject(deps, call, 200, await deps.objects.update(context, { resource, namespace, name, subresource, change }));
}

/** What a patch makes wrong is reported as the patch's fault, with the text that could not be read. */
function decodePatched(
  resource: Resource,
  patched: unknown,
  type: PatchType,
  patch: unknown,
  decode: () => ApiObject,
): ApiObject {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.code !== 400) throw error;
    const prefix = `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: `;
    const shown = type === "strategic" ? goMapText(patch) : JSON.stringify(patched);
    throw invalidPatch(shown, error.message.replace(prefix, ""));
  }
}

function invalidPatch(value: string, why: string): StatusError {
  const { field, reason, message } = fieldError.invalid("patch", value, why);
  return new StatusError(422, "Invalid", ` "" is invalid: ${field}: ${message}`, {
    causes: [{ reason, message, field }],
  });
}

/** A patch may leave out what identifies its object, and may not change it. */
function checkIdentityKept(resource: Resource, current: ApiObject, { metadata }: ApiObject): void {
  const name = current.metadata.name ?? "";
  if ((metadata.name ?? "") === "") throw nameMissing(name);
  for (const field of ["uid", "deletionTimestamp"] as const) {
    const given = metadata[field];
    if (given === undefined || given === current.metadata[field]) continue;
    throw invalid(resource, name, [fieldError.invalid(`metadata.${field}`, given, "field is immutable")]);
  }
}
