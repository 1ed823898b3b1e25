import type { Clock, Logger } from "@polyvirt/core";

import type { Store } from "../../store/store.ts";
import { ensure } from "../bootstrap.ts";
import { StatusError } from "../http/status-error.ts";
import { valueAt } from "../json.ts";
import type { Objects } from "../registry/objects.ts";
import { systemContext } from "../registry/request-context.ts";
import type { Resource } from "../registry/resource.ts";
import { splitKey } from "./split-key.ts";
import { WorkLoop } from "./work-loop.ts";

interface FurnitureDeps {
  readonly store: Store;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespaces: Resource;
  readonly serviceAccounts: Resource;
  readonly configMaps: Resource;
  /** PEM of the authority that pods need to believe this server. */
  readonly certificateAuthority: string;
}

const rootCa = "kube-root-ca.crt";
const context = systemContext("kube-controller-manager");

/** Every namespace has a service account `default` and the cluster's CA in a config map, again if someone deletes them. */
export class NamespaceFurniture {
  readonly #deps: FurnitureDeps;
  readonly #loop: WorkLoop;

  constructor(deps: FurnitureDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      name: "namespace furniture",
      clock: deps.clock,
      logger: deps.logger,
      run: (name) => this.#furnish(name),
    });
    deps.store.subscribe((events) => {
      for (const { key, value } of events) {
        const { bucket, namespace, name } = splitKey(key);
        if (bucket === "namespaces" && value !== undefined) this.#loop.add(name);
        if (bucket === "serviceaccounts" && name === "default" && value === undefined) this.#loop.add(namespace);
        if (bucket === "configmaps" && name === rootCa) this.#loop.add(namespace);
      }
    });
  }

  /** Furnishes what is there already, before the first request comes in. */
  async furnishAll(): Promise<void> {
    for (const namespace of this.#deps.objects.list(this.#deps.namespaces))
      await this.#furnish(namespace.metadata.name ?? "");
  }

  start(): void {
    for (const namespace of this.#deps.objects.list(this.#deps.namespaces))
      this.#loop.add(namespace.metadata.name ?? "");
  }

  stop(): void {
    this.#loop.stop();
  }

  async #furnish(name: string): Promise<void> {
    const { objects, namespaces, serviceAccounts, configMaps, certificateAuthority } = this.#deps;
    const namespace = objects.find(namespaces, "", name);
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
    try {
      await ensure(objects, serviceAccounts, name, { metadata: { name: "default" } });
      const data = { "ca.crt": certificateAuthority };
      await ensure(objects, configMaps, name, { metadata: { name: rootCa }, data });
      if (valueAt(objects.find(configMaps, name, rootCa), "data", "ca.crt") === certificateAuthority) return;
      await objects.update(context, {
        resource: configMaps,
        namespace: name,
        name: rootCa,
        subresource: "",
        change: (current) => ({ ...current, data }),
      });
    } catch (error) {
      // The namespace went away meanwhile.
      if (!(error instanceof StatusError && (error.status.code === 404 || error.status.code === 403))) throw error;
    }
  }
}
