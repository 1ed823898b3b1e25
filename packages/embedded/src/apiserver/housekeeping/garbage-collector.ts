import type { Clock, Logger } from "@polyvirt/core";

import type { Store } from "../../store/store.ts";
import { StatusError } from "../http/status-error.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { foregroundFinalizer, orphanFinalizer, type Deletion, type Propagation } from "../registry/deletion.ts";
import type { Objects } from "../registry/objects.ts";
import { systemContext } from "../registry/request-context.ts";
import type { Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import { OwnerIndex } from "./owner-index.ts";
import { splitKey } from "./split-key.ts";
import { WorkLoop } from "./work-loop.ts";

interface CollectorDeps {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly objects: Objects;
  readonly deletion: Deletion;
  readonly clock: Clock;
  readonly logger: Logger;
}

const context = systemContext("garbage-collector");

/**
 * Deletes an object when its last owner is gone, and carries out foreground and orphaning deletions. Owners are recognised
 * by UID: an owner that was created again under the same name does not count.
 */
export class GarbageCollector {
  readonly #deps: CollectorDeps;
  readonly #index: OwnerIndex;
  readonly #loop: WorkLoop;
  #started = false;

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      name: "garbage collection",
      clock: deps.clock,
      logger: deps.logger,
      run: (key) => this.#examine(key),
    });
    this.#index = new OwnerIndex(deps.store, ({ uid, key, gone, concerns }) => {
      if (!this.#started) return;
      if (concerns) this.#loop.add(key);
      if (!gone) return;
      // When a dependent goes, an owner that waits for it may go too; it is found through its own finalizer.
      for (const dependent of this.#index.keysOfDependents(uid)) this.#loop.add(dependent);
      for (const owner of this.#waitingOwners) this.#loop.add(owner);
    });
  }

  readonly #waitingOwners = new Set<string>();

  start(): void {
    this.#started = true;
    for (const key of this.#index.owned()) this.#loop.add(key);
    for (const { key, value } of this.#deps.store.range("").entries) {
      if (value.includes('"deletionTimestamp"')) this.#loop.add(key);
    }
  }

  stop(): void {
    this.#loop.stop();
  }

  async #examine(key: string): Promise<void> {
    const { bucket, namespace, name } = splitKey(key);
    const resource = this.#deps.registry.findBucket(bucket);
    if (resource === undefined) return;
    const object = this.#deps.objects.find(resource, namespace, name);
    if (object === undefined) {
      this.#waitingOwners.delete(key);
      return;
    }
    try {
      if (object.metadata.deletionTimestamp !== undefined) await this.#finish(resource, object, key);
      await this.#collect(resource, object);
    } catch (error) {
      const overtaken =
        error instanceof StatusError && (error.status.reason === "NotFound" || error.status.reason === "Conflict");
      if (!overtaken) throw error;
    }
  }

  /**
   * Deletes the object if no owner stands behind it any more. An owner that waits for the object to go does not; while
   * another one does, the object stays and forgets the rest.
   */
  async #collect(resource: Resource, object: ApiObject): Promise<void> {
    const { ownerReferences = [], namespace = "", name = "", uid, deletionTimestamp } = object.metadata;
    if (ownerReferences.length === 0 || uid === undefined || deletionTimestamp !== undefined) return;
    const states = ownerReferences.map((owner) => this.#index.stateOf(owner.uid, namespace));
    if (states.every((state) => state === "there")) return;
    if (states.includes("there")) {
      const stays = (owner: { uid: string }) => this.#index.stateOf(owner.uid, namespace) === "there";
      await this.#change(resource, namespace, name, (current) => {
        current.metadata.ownerReferences = (current.metadata.ownerReferences ?? []).filter(stays);
        return current;
      });
      return;
    }
    const passesOn = states.includes("waiting") && this.#index.keysOfDependents(uid).length > 0;
    await this.#deps.deletion.delete(context, resource, namespace, name, {
      preconditions: { uid },
      propagationPolicy: passesOn ? "Foreground" : chosenPolicy(object),
    });
  }

  /** Carries out what the finalizers of a deleted object ask of the collector. */
  async #finish(resource: Resource, object: ApiObject, key: string): Promise<void> {
    const { finalizers = [], uid = "", namespace = "", name = "" } = object.metadata;
    if (finalizers.includes(orphanFinalizer)) {
      for (const dependent of this.#dependentsOf(uid)) await this.#orphan(dependent.resource, dependent.object, uid);
      await this.#removeFinalizer(resource, namespace, name, orphanFinalizer);
    } else if (finalizers.includes(foregroundFinalizer)) {
      for (const dependent of this.#dependentsOf(uid)) {
        await ignoreGone(this.#collect(dependent.resource, dependent.object));
      }
      const blocking = this.#dependentsOf(uid).filter(({ object: dependent }) =>
        dependent.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
      );
      if (blocking.length > 0) {
        this.#waitingOwners.add(key);
        return;
      }
      this.#waitingOwners.delete(key);
      await this.#removeFinalizer(resource, namespace, name, foregroundFinalizer);
    }
  }

  #dependentsOf(uid: string): { resource: Resource; object: ApiObject }[] {
    return this.#index.keysOfDependents(uid).flatMap((key) => {
      const { bucket, namespace, name } = splitKey(key);
      const resource = this.#deps.registry.findBucket(bucket);
      const object = resource === undefined ? undefined : this.#deps.objects.find(resource, namespace, name);
      return resource === undefined || object === undefined ? [] : [{ resource, object }];
    });
  }

  async #orphan(resource: Resource, object: ApiObject, ownerUid: string): Promise<void> {
    const { namespace = "", name = "" } = object.metadata;
    await ignoreGone(
      this.#change(resource, namespace, name, (current) => {
        const rest = (current.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== ownerUid);
        if (rest.length > 0) current.metadata.ownerReferences = rest;
        else delete current.metadata.ownerReferences;
        return current;
      }),
    );
  }

  #removeFinalizer(resource: Resource, namespace: string, name: string, finalizer: string): Promise<unknown> {
    return this.#change(resource, namespace, name, (current) => {
      current.metadata.finalizers = (current.metadata.finalizers ?? []).filter((item) => item !== finalizer);
      return current;
    });
  }

  #change(
    resource: Resource,
    namespace: string,
    name: string,
    change: (current: ApiObject) => ApiObject,
  ): Promise<unknown> {
    return this.#deps.objects.update(context, { resource, namespace, name, subresource: "", change });
  }
}

/** A deletion policy that someone already chose for the object stays. */
function chosenPolicy({ metadata: { finalizers = [] } }: ApiObject): Propagation {
  if (finalizers.includes(orphanFinalizer)) return "Orphan";
  return finalizers.includes(foregroundFinalizer) ? "Foreground" : "Background";
}

async function ignoreGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StatusError && error.status.reason === "NotFound")) throw error;
  }
}
