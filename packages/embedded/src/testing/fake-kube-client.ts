import { randomUUID } from "node:crypto";
import { PolyvirtError } from "@polyvirt/core";
import type { KubeList, KubeObject, ResourceType } from "@polyvirt/api/k8s";
import type { DeleteOptions, KubeClient, ListOptions, PatchRequest, WatchEvent, WatchOptions } from "@polyvirt/kube";

type Stored = KubeObject & Record<string, unknown>;
type Listener = (plural: string, event: WatchEvent<KubeObject>) => void;

/**
 * An API server in memory, as far as scheduler, kubelet and controllers use one: objects with versions, watches, merge
 * patches, graceful deletion of pods, binding. For tests of their logic without HTTP.
 */
export class FakeKubeClient implements KubeClient {
  readonly namespace = "default";
  readonly #objects = new Map<string, Stored>();
  readonly #listeners = new Set<Listener>();
  readonly #history: { version: number; plural: string; event: WatchEvent<KubeObject> }[] = [];
  readonly #now: () => number;
  #version = 0;
  /** What a token request answers. */
  token = "fake-token";

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async get<T extends KubeObject>(type: ResourceType<T>, name: string, namespace?: string): Promise<T> {
    return clone(this.#find(type, name, namespace)) as unknown as T;
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const items = this.#all(type, options).map((object) => clone(object) as unknown as T);
    return { metadata: { resourceVersion: String(this.#version) }, items };
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    const name = object.metadata.name ?? `${object.metadata.generateName}${randomUUID().slice(0, 5)}`;
    const key = keyOf(type, name, object.metadata.namespace);
    if (this.#objects.has(key)) throw failure("KubeAlreadyExists", `create ${key}`);
    const metadata = {
      ...object.metadata,
      name,
      uid: object.metadata.uid ?? randomUUID(),
      generation: 1,
      creationTimestamp: new Date(this.#now()).toISOString(),
    };
    return this.#put(type, key, { ...clone(object), metadata } as unknown as Stored, "ADDED") as unknown as T;
  }

  async createSubresource<R>(
    type: ResourceType,
    target: { readonly name: string; readonly namespace?: string; readonly subresource: string },
    body: object,
  ): Promise<R> {
    if (target.subresource === "token") return { status: { token: this.token } } as R;
    if (target.subresource !== "binding") throw failure("KubeNotFound", target.subresource);
    const nodeName = (body as { target: { name: string } }).target.name;
    const pod = this.#find(type, target.name, target.namespace);
    const conditions = [{ type: "PodScheduled", status: "True" }];
    const bound = merge(pod, { spec: { nodeName }, status: { conditions } }, true) as Stored;
    this.#put(type, keyOf(type, target.name, target.namespace), bound, "MODIFIED");
    return {} as R;
  }

  async update<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    const { name = "", namespace } = object.metadata;
    this.#find(type, name, namespace);
    return this.#put(
      type,
      keyOf(type, name, namespace),
      clone(object) as unknown as Stored,
      "MODIFIED",
    ) as unknown as T;
  }

  async updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    return this.update(type, object);
  }

  async patch<T extends KubeObject>(
    type: ResourceType<T>,
    name: string,
    namespace: string | undefined,
    patch: PatchRequest,
  ): Promise<T> {
    const before = this.#find(type, name, namespace);
    const body = patch.body as { metadata?: { uid?: string; resourceVersion?: string } };
    if (body.metadata?.uid !== undefined && body.metadata.uid !== before.metadata.uid)
      throw failure("KubeConflict", name);
    if (
      body.metadata?.resourceVersion !== undefined &&
      body.metadata.resourceVersion !== before.metadata.resourceVersion
    ) {
      throw failure("KubeConflict", name);
    }
    const after = merge(before, clone(patch.body), patch.type === "strategic") as Stored;
    const specChanged = JSON.stringify(after["spec"]) !== JSON.stringify(before["spec"]);
    if (specChanged) after.metadata.generation = (before.metadata.generation ?? 0) + 1;
    return this.#put(type, keyOf(type, name, namespace), after, "MODIFIED") as unknown as T;
  }

  async delete(type: ResourceType, name: string, namespace?: string, options: DeleteOptions = {}): Promise<void> {
    const object = this.#find(type, name, namespace);
    const { uid } = options.preconditions ?? {};
    if (uid !== undefined && uid !== object.metadata.uid) throw failure("KubeConflict", name);
    const key = keyOf(type, name, namespace);
    const spec = object["spec"] as { nodeName?: string; terminationGracePeriodSeconds?: number } | undefined;
    const grace = options.gracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30;
    if (type.plural === "pods" && spec?.nodeName !== undefined && grace > 0) {
      if (object.metadata.deletionTimestamp !== undefined) return;
      const deletionTimestamp = new Date(this.#now() + grace * 1000).toISOString();
      const metadata = { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace };
      this.#put(type, key, { ...object, metadata }, "MODIFIED");
      return;
    }
    this.#objects.delete(key);
    this.#version++;
    this.#emit(type.plural, { type: "DELETED", object });
  }

  async *watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions = {}): AsyncIterable<WatchEvent<T>> {
    const since = Number(options.resourceVersion ?? this.#version);
    const queue = this.#history
      .filter(
        ({ version, plural, event }) => version > since && plural === type.plural && selects(options, event.object),
      )
      .map(({ event }) => clone(event));
    let wake: () => void = () => {};
    const listener: Listener = (plural, event) => {
      if (plural !== type.plural || !selects(options, event.object)) return;
      queue.push(clone(event));
      wake();
    };
    this.#listeners.add(listener);
    options.signal?.addEventListener("abort", () => wake(), { once: true });
    try {
      while (options.signal?.aborted !== true) {
        const event = queue.shift();
        if (event !== undefined) yield event as WatchEvent<T>;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  apply(): never {
    throw failure("KubeNotFound", "apply is not part of the fake");
  }
  deleteCollection(): never {
    throw failure("KubeNotFound", "deleteCollection is not part of the fake");
  }
  request(): never {
    throw failure("KubeNotFound", "request is not part of the fake");
  }
  stream(): never {
    throw failure("KubeNotFound", "stream is not part of the fake");
  }
  connect(): never {
    throw failure("KubeNotFound", "connect is not part of the fake");
  }
  close(): void {}

  #find(type: ResourceType, name: string, namespace: string | undefined): Stored {
    const found = this.#objects.get(keyOf(type, name, namespace));
    if (found === undefined) throw failure("KubeNotFound", `${type.plural} ${name}`);
    return found;
  }

  #all(type: ResourceType, options: ListOptions): Stored[] {
    return [...this.#objects]
      .filter(([key, object]) => key.startsWith(`${type.plural}/`) && selects(options, object))
      .map(([, object]) => object);
  }

  #put(type: ResourceType, key: string, object: Stored, event: "ADDED" | "MODIFIED"): Stored {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    this.#objects.set(key, stored);
    this.#emit(type.plural, { type: event, object: stored });
    return clone(stored);
  }

  #emit(plural: string, event: WatchEvent<KubeObject>): void {
    this.#history.push({ version: this.#version, plural, event });
    for (const listener of this.#listeners) listener(plural, event);
  }
}

function keyOf(type: ResourceType, name: string, namespace: string | undefined): string {
  return `${type.plural}/${type.namespaced ? (namespace ?? "default") : ""}/${name}`;
}

function failure(code: string, message: string): PolyvirtError {
  return new PolyvirtError(code, message, { retry: true });
}

function clone<T>(value: T): T {
  return structuredClone(value);
}

/** Only the field selectors that the components use. */
function selects(options: Pick<ListOptions, "namespace" | "fieldSelector">, object: KubeObject): boolean {
  if (options.namespace !== undefined && object.metadata.namespace !== options.namespace) return false;
  const node = /^spec\.nodeName=(.+)$/.exec(options.fieldSelector ?? "")?.[1];
  return node === undefined || (object as { spec?: { nodeName?: string } }).spec?.nodeName === node;
}

/** JSON merge patch; `conditions` merge by type when strategic. */
function merge(target: unknown, patch: unknown, strategic: boolean): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (strategic && key === "conditions" && Array.isArray(value)) result[key] = mergeByType(result[key], value);
    else result[key] = merge(result[key], value, strategic);
  }
  return result;
}

function mergeByType(existing: unknown, changed: { type: string }[]): unknown[] {
  const merged = new Map(
    (Array.isArray(existing) ? (existing as { type: string }[]) : []).map((item) => [item.type, item]),
  );
  for (const item of changed) merged.set(item.type, { ...merged.get(item.type), ...item });
  return [...merged.values()];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
