import { fieldError, methodNotAllowed, notANumber, revisionTooLarge, StatusError } from "../http/status-error.ts";
import { decodeObject } from "../registry/decode.ts";
import { parseDeleteOptions } from "../registry/deletion.ts";
import { handleDeleteCollection } from "./delete-collection.ts";
import { handlePatch } from "./handle-patch.ts";
import { sendList } from "./send-list.ts";
import { sendObject } from "./send-object.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import { sendWatch } from "./send-watch.ts";

type Handler = (deps: ResourceDeps, call: Call) => Promise<void> | void;

const handlers: Readonly<Record<string, Handler>> = {
  get: handleGet,
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
  if (handler === undefined || !call.resource.verbs.includes(verb)) throw methodNotAllowed();
  await handler(deps, call);
}

function handleGet(deps: ResourceDeps, call: Call): void {
  const { exchange, resource, namespace, target } = call;
  if (exchange.info.method === "HEAD") throw methodNotAllowed();
  const version = exchange.query.get("resourceVersion") ?? "";
  if (!/^\d*$/.test(version)) {
    const { field, message } = fieldError.invalid("resourceVersion", version, notANumber(version));
    throw new StatusError(500, "", `${field}: ${message}`);
  }
  if (Number(version) > deps.store.revision) throw revisionTooLarge(Number(version), deps.store.revision);
  sendObject(deps, call, 200, deps.objects.get(resource, namespace, target.name));
}

async function handleCreate(deps: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  if (target.name !== "" || (resource.namespaced && namespace === "")) throw methodNotAllowed();
  const { value, duplicates } = await exchange.objectBody(resource.kind);
  const context = exchange.context();
  const object = decodeObject(resource, value, context, { duplicates });
  sendObject(deps, call, 201, await deps.objects.create(context, resource, namespace, object));
}

async function handleUpdate(deps: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, target } = call;
  const { name, subresource } = target;
  if (name === "") throw methodNotAllowed();
  const { value, duplicates } = await exchange.objectBody(resource.kind);
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
