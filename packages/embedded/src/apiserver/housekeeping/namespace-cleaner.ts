import type { Clock, Logger } from "@polyvirt/core";

import type { Store } from "../../store/store.ts";
import { StatusError } from "../http/status-error.ts";
import { isJsonObject } from "../json.ts";
import type { Deletion } from "../registry/deletion.ts";
import { timestamp, type Objects } from "../registry/objects.ts";
import { systemContext } from "../registry/request-context.ts";
import type { Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import { splitKey } from "./split-key.ts";
import { WorkLoop } from "./work-loop.ts";

interface CleanerDeps {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly objects: Objects;
  readonly deletion: Deletion;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespaces: Resource;
}

const context = systemContext("namespace-controller");

/** Empties a namespace that is being deleted, and lets it go when nothing is left in it. */
export class NamespaceCleaner {
  readonly #deps: CleanerDeps;
  readonly #loop: WorkLoop;
  readonly #terminating = new Set<string>();

  constructor(deps: CleanerDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      name: "namespace deletion",
      clock: deps.clock,
      logger: deps.logger,
      run: (name) => this.#clean(name),
    });
    deps.store.subscribe((events) => {
      for (const { key, value } of events) {
        const { bucket, namespace, name } = splitKey(key);
        if (bucket === "namespaces") {
          if (value?.includes('"deletionTimestamp"') === true) this.#watch(name);
          else if (value === undefined) this.#terminating.delete(name);
        } else if (this.#terminating.has(namespace)) {
          this.#loop.add(namespace);
        }
      }
    });
  }

  start(): void {
    for (const { key, value } of this.#deps.store.range("namespaces/").entries) {
      if (value.includes('"deletionTimestamp"')) this.#watch(splitKey(key).name);
    }
  }

  stop(): void {
    this.#loop.stop();
  }

  #watch(name: string): void {
    this.#terminating.add(name);
    this.#loop.add(name);
  }

  async #clean(name: string): Promise<void> {
    const { objects, namespaces } = this.#deps;
    const namespace = objects.find(namespaces, "", name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    const left = await this.#deleteContent(name);
    const message = left.length === 0 ? "" : `Some resources are remaining: ${left.join(", ")}`;
    await this.#setCondition(name, message);
    if (left.length > 0) return;
    await objects.update(context, {
      resource: namespaces,
      namespace: "",
      name,
      subresource: "finalize",
      change: (current) => ({ ...current, spec: { finalizers: [] } }),
    });
  }

  /** Deletes what can be deleted; says what is still there. */
  async #deleteContent(namespace: string): Promise<string[]> {
    const { registry, store, objects } = this.#deps;
    const left: string[] = [];
    for (const resource of registry.stored()) {
      if (!resource.namespaced) continue;
      for (const object of objects.list(resource, namespace))
        await this.#deleteOne(resource, namespace, object.metadata.name ?? "");
      const count = store.count(`${resource.bucket}/${namespace}/`);
      if (count > 0) left.push(`${resource.bucket} has ${count} resource instances`);
    }
    return left;
  }

  async #deleteOne(resource: Resource, namespace: string, name: string): Promise<void> {
    try {
      await this.#deps.deletion.delete(context, resource, namespace, name, { propagationPolicy: "Background" });
    } catch (error) {
      if (!(error instanceof StatusError && error.status.reason === "NotFound")) throw error;
    }
  }

  async #setCondition(name: string, message: string): Promise<void> {
    const { objects, namespaces, clock } = this.#deps;
    if (message === "") return;
    await objects.update(context, {
      resource: namespaces,
      namespace: "",
      name,
      subresource: "status",
      change(current) {
        const status = isJsonObject(current["status"]) ? current["status"] : {};
        const condition = {
          type: "NamespaceContentRemaining",
          status: "True",
          reason: "SomeResourcesRemain",
          message,
          lastTransitionTime: timestamp(clock.now()),
        };
        return { ...current, status: { ...status, conditions: [condition] } };
      },
    });
  }
}
