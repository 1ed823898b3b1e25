import type { Exchange } from "../http/exchange.ts";
import { isTrue } from "../http/request-info.ts";
import { badRequest, fieldError, invalidOptions, nameMissing, notFound, StatusError } from "../http/status-error.ts";
import { isJsonObject, textOf } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { applyConfiguration } from "../managed-fields/apply.ts";
import { decodeObject } from "../registry/decode.ts";
import { timestamp } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import { sendObject } from "./send-object.ts";

/** Server-side apply: makes the object, or merges what the applier says into what is there. */
export async function handleApply(deps: ResourceDeps, call: Call, value: unknown): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  const { name, subresource } = target;
  const manager = exchange.query.get("fieldManager") ?? "";
  if (manager === "") {
    throw invalidOptions("PatchOptions", fieldError.required("fieldManager", "is required for apply patch"));
  }
  const context = { ...exchange.context(), fieldManager: manager };
  const force = isTrue(exchange.query.get("force"));
  checkType(resource, value);
  const applied = decodeApplied(resource, value);
  if (applied.metadata.managedFields !== undefined && applied.metadata.managedFields.length > 0) {
    throw badRequest("metadata.managedFields must be nil");
  }
  const given = applied.metadata.name ?? "";
  if (given !== "" && given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  applied.metadata = { ...applied.metadata, name };
  const apply = (live: ApiObject): ApiObject =>
    applyConfiguration({ resource, live, applied, manager, force, now: timestamp(deps.clock.now()), subresource });
  for (let attempt = 0; ; attempt++) {
    if (deps.objects.find(resource, namespace, name) === undefined) {
      if (subresource !== "") throw notFound(resource, name);
      if (given === "") throw nameMissing(name);
      const created = await createByApply(deps, call, context, apply);
      if (created !== undefined) return sendObject(deps, call, 201, created);
    }
    try {
      const change = (current: ApiObject): ApiObject => {
        const merged = apply(current);
        const { managedFields } = merged.metadata;
        const object = decodeObject(resource, merged, { fieldValidation: "Ignore", warn() {} });
        if (managedFields !== undefined) object.metadata.managedFields = managedFields;
        return object;
      };
      const result = await deps.objects.update(context, {
        resource,
        namespace,
        name,
        subresource,
        change,
        ownsManagedFields: true,
      });
      return sendObject(deps, call, 200, result);
    } catch (error) {
      // It was deleted between looking and writing: then apply creates it.
      const vanished = error instanceof StatusError && error.status.reason === "NotFound";
      if (!vanished || attempt >= 3 || subresource !== "") throw error;
    }
  }
}

async function createByApply(
  deps: ResourceDeps,
  { resource, namespace, target }: Call,
  context: ReturnType<Exchange["context"]>,
  apply: (live: ApiObject) => ApiObject,
): Promise<ApiObject | undefined> {
  const empty: ApiObject = { apiVersion: resource.apiVersion, kind: resource.kind, metadata: {} };
  const object = apply(empty);
  if (object.metadata.uid !== undefined) {
    throw new StatusError(
      409,
      "Conflict",
      `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`,
    );
  }
  delete object.metadata.resourceVersion;
  try {
    return await deps.objects.create({ ...context, ownsManagedFields: true }, resource, namespace, object);
  } catch (error) {
    const raced =
      error instanceof StatusError &&
      error.status.reason === "AlreadyExists" &&
      error.status.details?.name === target.name;
    if (raced) return undefined;
    throw error;
  }
}

/** An applied configuration always says what it is. */
function checkType(resource: Resource, value: unknown): void {
  const { apiVersion, kind } = isJsonObject(value) ? value : {};
  if (apiVersion === resource.apiVersion && kind === resource.kind) return;
  const given = textOf(apiVersion);
  throw badRequest(`invalid object type: ${given.includes("/") ? given : `/${given}`}, Kind=${textOf(kind)}`);
}

/** Fields that nobody knows cannot have an owner, so they are refused however lenient the client asks us to be. */
function decodeApplied(resource: Resource, value: unknown): ApiObject {
  const unknown: string[] = [];
  const warn = (problem: string): void => void unknown.push(/^unknown field "(.*)"$/.exec(problem)?.[1] ?? problem);
  const applied = decodeObject(resource, value, { fieldValidation: "Warn", warn }, { partial: true });
  if (unknown.length === 0) return applied;
  const { namespace = "", name = "" } = applied.metadata;
  const { group, version, kind } = resource;
  const told = unknown.map((field) => `.${field}: field not declared in schema`);
  const list = told.length === 1 ? told[0] : `errors:\n${told.map((line) => `  ${line}`).join("\n")}`;
  const what = `${namespace}/${name}; ${group}/${version}, Kind=${kind}`;
  throw new StatusError(500, "", `failed to create typed patch object (${what}): ${list}`);
}
