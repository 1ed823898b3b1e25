import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import type { KubeObject, ResourceType } from "@polyvirt/api/k8s";
import { createBackoff } from "../backoff.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { describeTarget } from "../client/resource-path.ts";
import { IndexedCache, type IndexFunction } from "./cache.ts";

export interface InformerOptions<T> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Drops what nobody reads before it is kept (managedFields always goes). */
  readonly transform?: (object: T) => T;
}

export interface InformerHandler<T> {
  /** `old` is undefined for an object that is new to the cache. */
  onSet?(object: T, old: T | undefined): void;
  onDelete?(object: T): void;
}

/** The API server's objects of one kind, kept in memory. Objects are shared: never change one, copy it first. */
export interface Informer<T extends KubeObject> {
  /** Keeps the cache current until the signal is aborted. */
  start(signal: AbortSignal): void;
  /** Resolves when the first list is in the cache and handlers have seen it. */
  synced(): Promise<void>;
  get(key: string): T | undefined;
  list(): T[];
  byIndex(name: string, value: string): T[];
  /** Handlers added late are told of what is there. Returns how to remove it. */
  on(handler: InformerHandler<T>): () => void;
}

/** `namespace/name`, or `name` for cluster-scoped objects. */
export function keyOf(object: KubeObject): string {
  const { namespace, name = "" } = object.metadata;
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

export function splitKey(key: string): { namespace: string | undefined; name: string } {
  const slash = key.indexOf("/");
  return slash < 0
    ? { namespace: undefined, name: key }
    : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export function createInformer<T extends KubeObject>(
  client: Pick<KubeClient, "list" | "watch">,
  type: ResourceType<T>,
  options: InformerOptions<T>,
): Informer<T> {
  return new ListWatchInformer(client, type, options);
}

class ListWatchInformer<T extends KubeObject> implements Informer<T> {
  readonly #client: Pick<KubeClient, "list" | "watch">;
  readonly #type: ResourceType<T>;
  readonly #options: InformerOptions<T>;
  readonly #logger: Logger;
  readonly #cache: IndexedCache<T>;
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #synced: Promise<void>;
  #markSynced: () => void = () => {};
  #started = false;

  constructor(client: Pick<KubeClient, "list" | "watch">, type: ResourceType<T>, options: InformerOptions<T>) {
    this.#client = client;
    this.#type = type;
    this.#options = options;
    this.#logger = options.logger.with({ informer: describeTarget(type, { namespace: options.namespace }) });
    this.#cache = new IndexedCache(options.indexes ?? {});
    this.#synced = new Promise((resolve) => (this.#markSynced = resolve));
  }

  start(signal: AbortSignal): void {
    if (this.#started) return;
    this.#started = true;
    this.#run(signal).catch((error: unknown) =>
      this.#logger.error("an informer stopped by itself", { error: describeError(error) }),
    );
  }

  synced(): Promise<void> {
    return this.#synced;
  }

  get(key: string): T | undefined {
    return this.#cache.get(key);
  }

  list(): T[] {
    return this.#cache.values();
  }

  byIndex(name: string, value: string): T[] {
    return this.#cache.byIndex(name, value);
  }

  on(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#cache.values()) this.#call(() => handler.onSet?.(object, undefined));
    return () => this.#handlers.delete(handler);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff({ initialMs: 200, maxMs: 30_000 });
    while (!signal.aborted) {
      try {
        const resourceVersion = await this.#replace(signal);
        backoff.reset();
        await this.#follow(resourceVersion, signal);
      } catch (error) {
        if (signal.aborted) return;
        // A lost history is normal after a long silence; everything else is worth a line.
        if (!hasCode(error, "KubeGone")) {
          this.#logger.warn("listing or watching failed and will be tried again", { error: describeError(error) });
        }
        await this.#options.clock.sleep(backoff.next(), signal).catch(() => {});
      }
    }
  }

  async #replace(signal: AbortSignal): Promise<string | undefined> {
    const list = await this.#client.list(this.#type, { ...this.#selection(), signal });
    const gone = new Set(this.#cache.keys());
    for (const object of list.items) {
      gone.delete(keyOf(object));
      this.#set(object);
    }
    for (const key of gone) this.#delete(key);
    this.#markSynced();
    return list.metadata.resourceVersion;
  }

  async #follow(resourceVersion: string | undefined, signal: AbortSignal): Promise<void> {
    const from = resourceVersion === undefined ? {} : { resourceVersion };
    for await (const event of this.#client.watch(this.#type, { ...this.#selection(), ...from, signal })) {
      if (event.type === "DELETED") this.#delete(keyOf(event.object), event.object);
      else if (event.type !== "BOOKMARK") this.#set(event.object);
    }
  }

  #selection() {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return { namespace, labelSelector, fieldSelector };
  }

  #set(received: T): void {
    delete received.metadata.managedFields;
    const object = this.#options.transform?.(received) ?? received;
    const key = keyOf(object);
    const old = this.#cache.get(key);
    if (old !== undefined && old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.#cache.set(key, object);
    for (const handler of this.#handlers) this.#call(() => handler.onSet?.(object, old));
  }

  #delete(key: string, last?: T): void {
    const old = this.#cache.get(key) ?? last;
    if (old === undefined) return;
    this.#cache.delete(key);
    for (const handler of this.#handlers) this.#call(() => handler.onDelete?.(last ?? old));
  }

  /** A handler that throws must not stop the cache. */
  #call(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      this.#logger.error("an informer's handler failed", { error: describeError(error) });
    }
  }
}
