import type { Exchange } from "../http/exchange.ts";
import { badRequest, fieldError, methodNotAllowed, notFound, StatusError } from "../http/status-error.ts";
import { isTrue } from "../http/request-info.ts";
import { isJsonObject, textOf } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { applyConfiguration } from "../managed-fields/apply.ts";
import { applyPatch, patchTypeOf, type PatchType } from "../patch/apply-patch.ts";
import { decodeObject } from "../registry/decode.ts";
import { parseDeleteOptions } from "../registry/deletion.ts";
import { timestamp } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import { handleDeleteCollection } from "./delete-collection.ts";
import { sendList } from "./send-list.ts";
import { sendObject } from "./send-object.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import { sendWatch } from "./send-watch.ts";

type Handler = (deps: ResourceDeps, call: Call) => Promise<void> | void;

const handlers: Readonly<Record<string, Handler>> = {
  get: (deps, call) => sendObject(deps, call, 200, deps.objects.get(call.resource, call.namespace, call.target.name)),
  list: sendList,
  watch: sendWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

/** Answers the eight verbs on a resource itself and on its status. */
export async function handleResource(deps: ResourceDeps, call: Call, verb: string): Promise<void> {
  const handler = Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
  if (handler === undefined || !call.resource.verbs.includes(verb)) throw methodNotAllowed(call.resource);
  await handler(deps, call);
}

async function handleCreate(deps: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  if (resource.namespaced && namespace === "") throw badRequest("an empty namespace may not be set during creation");
  if (target.name !== "") throw methodNotAllowed(resource);
  const { value, duplicates } = await exchange.parsedBody();
  const context = exchange.context();
  const object = decodeObject(resource, value, context, { duplicates });
  sendObject(deps, call, 201, await deps.objects.create(context, resource, namespace, object));
}

async function handleUpdate(deps: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  const { name, subresource } = target;
  const { value, duplicates } = await exchange.parsedBody();
  const context = exchange.context();
  const object = decodeObject(resource, value, context, { duplicates });
  const result = await deps.objects.update(context, {
    resource,
    namespace,
    name,
    subresource,
    change: () => ({ ...object, metadata: { ...object.metadata } }),
  });
  sendObject(deps, call, 200, result);
}

async function handlePatch(deps: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  const { name, subresource } = target;
  const type = patchTypeOf(resource, exchange.request.headers["content-type"] ?? "");
  const { value, duplicates } = await exchange.parsedBody();
  if (type === "apply") return handleApply(deps, call, value);
  const context = exchange.context();
  const change = (current: ApiObject): ApiObject => {
    const patched = applyPatch(resource, current, type satisfies PatchType, value);
    if (!isJsonObject(patched)) throw badRequest("the patched object is not an object");
    checkIdentityKept(resource, current, patched);
    return decodePatched(resource, patched, type, value, () =>
      decodeObject(resource, patched, context, { duplicates }),
    );
  };
  sendObject(deps, call, 200, await deps.objects.update(context, { resource, namespace, name, subresource, change }));
}

/** What a patch makes wrong is reported as the patch's fault, with the text that could not be read. */
function decodePatched(
  resource: Resource,
  patched: Record<string, unknown>,
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

/** How Go prints a map: `map[spec:map[replicas:x]]`. */
function goMapText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMapText).join(" ")}]`;
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `map[${keys.map((key) => `${key}:${goMapText(value[key])}`).join(" ")}]`;
  }
  return value === null ? "<nil>" : textOf(value);
}

function checkIdentityKept(resource: Resource, current: ApiObject, patched: Record<string, unknown>): void {
  if (patched["kind"] === current.kind && patched["apiVersion"] === current.apiVersion) return;
  throw badRequest(
    `the patch changes apiVersion or kind of ${resource.plural} ${JSON.stringify(current.metadata.name)}, which identify it`,
  );
}

async function handleApply(deps: ResourceDeps, call: Call, value: unknown): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  const { name, subresource } = target;
  const manager = exchange.query.get("fieldManager") ?? "";
  if (manager === "") {
    throw new StatusError(
      422,
      "Invalid",
      `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`,
      {
        group: "meta.k8s.io",
        kind: "PatchOptions",
        causes: [
          {
            reason: "FieldValueRequired",
            message: "Required value: is required for apply patch",
            field: "fieldManager",
          },
        ],
      },
    );
  }
  const context = { ...exchange.context(), fieldManager: manager };
  const force = isTrue(exchange.query.get("force"));
  const applied = decodeObject(resource, value, context, { partial: true });
  if (applied.metadata.managedFields !== undefined && applied.metadata.managedFields.length > 0) {
    throw badRequest("metadata.managedFields must be nil");
  }
  applied.metadata = { ...applied.metadata, name };
  const apply = (live: ApiObject): ApiObject =>
    applyConfiguration({ resource, live, applied, manager, force, now: timestamp(deps.clock.now()), subresource });
  for (let attempt = 0; ; attempt++) {
    if (deps.objects.find(resource, namespace, name) === undefined) {
      if (subresource !== "") throw notFound(resource, name);
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

async function handleDelete(deps: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  const { value } = await exchange.parsedBody();
  const options = parseDeleteOptions(value, exchange.query);
  const context = exchange.context();
  const dryRun = context.dryRun || options.dryRun?.includes("All") === true;
  const { object, gone } = await deps.deletion.delete(
    { ...context, dryRun },
    resource,
    namespace,
    target.name,
    options,
  );
  if (!gone) return sendObject(deps, call, 200, object);
  const { name, uid } = object.metadata;
  exchange.send(
    200,
    {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name, ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.plural, uid },
    },
    call.format,
  );
}
