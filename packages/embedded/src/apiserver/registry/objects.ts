import { randomInt, randomUUID } from "node:crypto";

import { hasCode, type Clock } from "@polyvirt/core";

import type { StoredEntry } from "../../store/event-log.ts";
import type { Store } from "../../store/store.ts";
import type { Admission } from "../admission/admission.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  fieldError,
  notANumber,
  notFound,
  StatusError,
} from "../http/status-error.ts";
import { copyJson, deepEqual } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { trackUpdate } from "../managed-fields/track-update.ts";
import { decodeObject } from "./decode.ts";
import { encodeStored, objectOf } from "./object-codec.ts";
import { generateName } from "./object-names.ts";
import { completeNew, prepareCreate, prepareUpdate, validateObject } from "./prepare.ts";
import type { RequestContext } from "./request-context.ts";
import { keyOf, type Resource } from "./resource.ts";

export interface ObjectsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Late bound, because admission itself reads objects. */
  admission(): Admission;
}

export interface ChangeRequest {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** Makes the wanted object from the current one. May be called again when someone else wrote in between. */
  change(current: ApiObject): ApiObject | Promise<ApiObject>;
  /** Set when the change already decided who owns which field (server-side apply). */
  readonly ownsManagedFields?: boolean;
  /** The subresource under which owners are recorded, when the change writes another part (scale). */
  readonly trackedAs?: string;
}

const maxAttempts = 20;

/** Reading, creating and changing objects of any resource: decoding, defaults, admission, validation, storing. */
export class Objects {
  readonly #deps: ObjectsDeps;

  constructor(deps: ObjectsDeps) {
    this.#deps = deps;
  }

  find(resource: Resource, namespace: string, name: string): ApiObject | undefined {
    const entry = this.#deps.store.get(keyOf(resource, namespace, name));
    return entry === undefined ? undefined : objectOf(resource, entry);
  }

  get(resource: Resource, namespace: string, name: string): ApiObject {
    const object = this.find(resource, namespace, name);
    if (object === undefined) throw notFound(resource, name);
    return object;
  }

  list(resource: Resource, namespace = ""): ApiObject[] {
    const prefix = namespace === "" ? `${resource.bucket}/` : `${resource.bucket}/${namespace}/`;
    return this.#deps.store.range(prefix).entries.map((entry) => objectOf(resource, entry));
  }

  async create(context: RequestContext, resource: Resource, namespace: string, input: ApiObject): Promise<ApiObject> {
    const object = copyJson(input);
    checkIdentity(resource, object, namespace, undefined);
    if (object.metadata.resourceVersion !== undefined && object.metadata.resourceVersion !== "") {
      throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
    }
    const generated = (object.metadata.name ?? "") === "" && (object.metadata.generateName ?? "") !== "";
    for (let attempt = 1; ; attempt++) {
      const candidate = copyJson(object);
      if (generated)
        candidate.metadata.name = generateName(candidate.metadata.generateName ?? "", (limit) => randomInt(limit));
      try {
        return await this.#createOnce(context, resource, namespace, candidate);
      } catch (error) {
        const taken = error instanceof StatusError && error.status.reason === "AlreadyExists";
        if (!generated || !taken || attempt >= 8) throw error;
      }
    }
  }

  async #createOnce(
    context: RequestContext,
    resource: Resource,
    namespace: string,
    input: ApiObject,
  ): Promise<ApiObject> {
    const { store, clock } = this.#deps;
    const now = timestamp(clock.now());
    completeNew(resource, input, namespace);
    const name = input.metadata.name ?? "";
    if (context.ownsManagedFields !== true) {
      delete input.metadata.managedFields;
      trackUpdate({ resource, old: undefined, object: input, manager: context.fieldManager, now, subresource: "" });
    }
    const request = {
      context,
      resource,
      subresource: "",
      operation: "CREATE",
      namespace,
      name,
      old: undefined,
    } as const;
    const admission = this.#deps.admission();
    const object = await this.#mutated(resource, await admission.mutate({ ...request, object: input }));
    prepareCreate(resource, object, { uid: randomUUID(), now });
    validateObject(resource, object, undefined, (message) => context.warn(message));
    await admission.validate({ ...request, object });
    const key = keyOf(resource, namespace, name);
    if (context.dryRun) {
      if (store.get(key) !== undefined) throw alreadyExists(resource, name);
      return object;
    }
    try {
      return objectOf(resource, await store.put(key, 0, (revision) => encodeStored(resource, object, revision)));
    } catch (error) {
      if (hasCode(error, "StoreConflict")) throw alreadyExists(resource, name);
      throw error;
    }
  }

  /** Changes an object, trying again when somebody else was faster and the change does not name a version itself. */
  async update(context: RequestContext, request: ChangeRequest): Promise<ApiObject> {
    const { store } = this.#deps;
    const { resource, namespace, name } = request;
    const key = keyOf(resource, namespace, name);
    for (let attempt = 1; ; attempt++) {
      const entry = store.get(key);
      if (entry === undefined) throw notFound(resource, name);
      const current = objectOf(resource, entry);
      const wanted = await request.change(copyJson(current));
      checkIdentity(resource, wanted, namespace, name);
      checkPreconditions(resource, wanted, current);
      const object = await this.#admitUpdate(context, request, wanted, current);
      if (isUnchanged(object, current)) return current;
      if (context.dryRun) return object;
      try {
        return await this.#write(resource, object, entry);
      } catch (error) {
        if (!hasCode(error, "StoreConflict")) throw error;
        if (attempt >= maxAttempts) throw conflict(resource, name);
      }
    }
  }

  async #admitUpdate(
    context: RequestContext,
    { resource, namespace, name, subresource, ownsManagedFields, trackedAs }: ChangeRequest,
    wanted: ApiObject,
    current: ApiObject,
  ): Promise<ApiObject> {
    const now = timestamp(this.#deps.clock.now());
    const prepared = prepareUpdate(resource, wanted, current, subresource);
    // Owners are those who asked: what admission adds afterwards is nobody's.
    if (ownsManagedFields !== true) {
      const manager = context.fieldManager;
      trackUpdate({ resource, old: current, object: prepared, manager, now, subresource: trackedAs ?? subresource });
    }
    const request = { context, resource, subresource, operation: "UPDATE", namespace, name, old: current } as const;
    const admission = this.#deps.admission();
    const admitted = await this.#mutated(resource, await admission.mutate({ ...request, object: prepared }));
    // Webhooks may only change what this request may change.
    const object = prepareUpdate(resource, admitted, current, subresource);
    validateObject(resource, object, subresource === "binding" ? undefined : current, (message) =>
      context.warn(message),
    );
    await admission.validate({ ...request, object });
    return object;
  }

  /** What admission returned is read again like a request: pruned and with defaults. */
  async #mutated(resource: Resource, object: ApiObject): Promise<ApiObject> {
    return decodeObject(resource, object, { fieldValidation: "Ignore", warn() {} });
  }

  async #write(resource: Resource, object: ApiObject, entry: StoredEntry): Promise<ApiObject> {
    const { store } = this.#deps;
    const encode = (revision: number) => encodeStored(resource, object, revision);
    const written = isFinallyGone(resource, object)
      ? await store.remove(entry.key, entry.revision, encode)
      : await store.put(entry.key, entry.revision, encode);
    return objectOf(resource, written);
  }
}

/** Deletion was asked for, and nobody holds the object any more. */
export function isFinallyGone(resource: Resource, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0) return false;
  if (resource.bucket === "namespaces") {
    const spec = object["spec"] as { finalizers?: string[] } | undefined;
    return (spec?.finalizers ?? []).length === 0;
  }
  return deletionGracePeriodSeconds === 0;
}

/** Seconds are what metav1.Time keeps. */
export const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");

function checkIdentity(resource: Resource, object: ApiObject, namespace: string, name: string | undefined): void {
  const given = object.metadata.namespace ?? "";
  if (resource.namespaced && given !== "" && given !== namespace) {
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  }
  if (name === undefined) return;
  const ownName = object.metadata.name ?? "";
  if (ownName === "") object.metadata.name = name;
  else if (ownName !== name) {
    throw badRequest(`the name of the object (${ownName}) does not match the name on the URL (${name})`);
  }
}

function checkPreconditions(resource: Resource, wanted: ApiObject, current: ApiObject): void {
  const name = current.metadata.name ?? "";
  const { resourceVersion, uid } = wanted.metadata;
  if (uid !== undefined && uid !== "" && uid !== current.metadata.uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
    );
  }
  if (resourceVersion === undefined || resourceVersion === "") {
    if (resource.typed) return;
    // Kubernetes names the resource here, where other refusals name the kind.
    throw invalid({ group: resource.group, kind: resource.plural }, name, [
      fieldError.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  if (!/^\d+$/.test(resourceVersion)) {
    throw invalid(resource, name, [
      fieldError.invalid("metadata.resourceVersion", resourceVersion, notANumber(resourceVersion)),
    ]);
  }
  if (resourceVersion !== current.metadata.resourceVersion) throw conflict(resource, name);
}

/** A write that changes nothing is none: no new revision, no event. Times in managedFields alone do not count. */
function isUnchanged(object: ApiObject, current: ApiObject): boolean {
  return deepEqual(withoutTimes(object), withoutTimes(current)) && !isNewlyGone(object, current);
}

function isNewlyGone(object: ApiObject, current: ApiObject): boolean {
  return (
    object.metadata.deletionTimestamp !== undefined &&
    (object.metadata.finalizers ?? []).length < (current.metadata.finalizers ?? []).length
  );
}

function withoutTimes(object: ApiObject): unknown {
  const { managedFields, resourceVersion: _, ...metadata } = object.metadata;
  const entries = managedFields?.map(({ time: __, ...entry }) => entry) ?? [];
  return { ...object, metadata: { ...metadata, managedFields: entries } };
}
