import type { Clock, Logger } from "@polyvirt/core";

import type { Store } from "../../store/store.ts";
import { splitKey } from "../housekeeping/split-key.ts";
import { WorkLoop } from "../housekeeping/work-loop.ts";
import { StatusError } from "../http/status-error.ts";
import { deepEqual, isJsonObject, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import type { Deletion } from "../registry/deletion.ts";
import { timestamp, type Objects } from "../registry/objects.ts";
import { systemContext } from "../registry/request-context.ts";
import type { Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import { nameConflict, resourcesOf } from "./crd-registrar.ts";

interface CrdStatusDeps {
  readonly store: Store;
  readonly registry: ResourceRegistry;
  readonly objects: Objects;
  readonly deletion: Deletion;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly definitions: Resource;
}

const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";
const context = systemContext("kube-apiserver");

/** Says in a definition's status whether its names are accepted and served; deletes its objects before it goes. */
export class CrdStatus {
  readonly #deps: CrdStatusDeps;
  readonly #loop: WorkLoop;

  constructor(deps: CrdStatusDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      name: "custom resource definitions",
      clock: deps.clock,
      logger: deps.logger,
      run: (name) => this.#reconcile(name),
    });
    deps.store.subscribe((events) => {
      for (const { key, value } of events) {
        const { bucket, name } = splitKey(key);
        if (bucket === deps.definitions.bucket && value !== undefined) this.#loop.add(name);
      }
    });
  }

  start(): void {
    for (const definition of this.#deps.objects.list(this.#deps.definitions))
      this.#loop.add(definition.metadata.name ?? "");
  }

  stop(): void {
    this.#loop.stop();
  }

  async #reconcile(name: string): Promise<void> {
    const { objects, definitions } = this.#deps;
    const definition = objects.find(definitions, "", name);
    if (definition === undefined) return;
    try {
      if (definition.metadata.deletionTimestamp !== undefined) return await this.#cleanUp(definition);
      await this.#update(name, "", (current) => {
        const finalizers = current.metadata.finalizers ?? [];
        if (!finalizers.includes(cleanupFinalizer)) current.metadata.finalizers = [...finalizers, cleanupFinalizer];
        return current;
      });
      await this.#update(name, "status", (current) => ({ ...current, status: this.#statusOf(current) }));
    } catch (error) {
      if (!(error instanceof StatusError && error.status.reason === "NotFound")) throw error;
    }
  }

  #update(name: string, subresource: string, change: (current: ApiObject) => ApiObject): Promise<ApiObject> {
    return this.#deps.objects.update(context, {
      resource: this.#deps.definitions,
      namespace: "",
      name,
      subresource,
      change,
    });
  }

  #statusOf(definition: ApiObject): JsonObject {
    const conflict = nameConflict(this.#deps.registry, definition);
    const before = isJsonObject(definition["status"]) ? definition["status"] : {};
    const stored = new Set(Array.isArray(before["storedVersions"]) ? before["storedVersions"].map(String) : []);
    for (const version of objectsIn(valueAt(definition, "spec", "versions"))) {
      if (version["storage"] === true) stored.add(String(version["name"]));
    }
    const now = timestamp(this.#deps.clock.now());
    const wanted = [
      conflict === undefined
        ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
        : { type: "NamesAccepted", status: "False", reason: "KindConflict", message: conflict },
      conflict === undefined
        ? {
            type: "Established",
            status: "True",
            reason: "InitialNamesAccepted",
            message: "the initial names have been accepted",
          }
        : { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
    ];
    const conditions = wanted.map((condition) => {
      const old = objectsIn(before["conditions"]).find((item) => item["type"] === condition.type);
      const same = old?.["status"] === condition.status && deepEqual(old["message"], condition.message);
      return { lastTransitionTime: same ? old["lastTransitionTime"] : now, ...condition };
    });
    return {
      ...before,
      acceptedNames: conflict === undefined ? valueAt(definition, "spec", "names") : before["acceptedNames"],
      conditions,
      storedVersions: [...stored],
    };
  }

  async #cleanUp(definition: ApiObject): Promise<void> {
    const { deletion, objects } = this.#deps;
    if (!(definition.metadata.finalizers ?? []).includes(cleanupFinalizer)) return;
    const [resource] = resourcesOf(definition);
    if (resource !== undefined) {
      for (const object of objects.list(resource)) {
        const { namespace = "", name = "" } = object.metadata;
        await deletion.delete(context, resource, namespace, name).catch((error: unknown) => {
          if (!(error instanceof StatusError && error.status.reason === "NotFound")) throw error;
        });
      }
      // Some objects wait for their own finalizers; look again when they had time.
      if (objects.list(resource).length > 0) return this.#loop.addAfter(definition.metadata.name ?? "", 500);
    }
    await this.#update(definition.metadata.name ?? "", "", (current) => {
      current.metadata.finalizers = (current.metadata.finalizers ?? []).filter((item) => item !== cleanupFinalizer);
      return current;
    });
  }
}
