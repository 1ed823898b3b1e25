/**
 * An API server for this package's tests: objects in memory, with resource versions, generations, finalizers and
 * watches. What other controllers would do, the test does by hand.
 */
import { PolyvirtError, applyMergePatch, jsonEqual, matchesRequirements, parseLabelSelector } from "@polyvirt/core";
import type { KubeObject, ResourceType, RoleRef } from "@polyvirt/api/k8s";
import { keyOf, type WatchEvent } from "@polyvirt/kube";
import type { VirtOperatorDeps } from "../compose.ts";

type Client = VirtOperatorDeps["client"];
type Body = KubeObject & { status?: unknown };

interface LoggedEvent {
  readonly version: number;
  readonly plural: string;
  readonly event: WatchEvent<KubeObject>;
}

interface Watcher {
  push(logged: LoggedEvent): void;
}

interface WatchRequest {
  readonly labelSelector?: string;
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
}

export interface FakeCluster {
  readonly client: Client;
  /** Writes so far, as `apply Deployment virt-api`. */
  readonly writes: string[];
  get(kind: string, name: string): KubeObject | undefined;
  list(kind: string): KubeObject[];
  /** Creates or changes an object as a user or another controller would. */
  put(type: ResourceType, object: KubeObject): KubeObject;
  remove(kind: string, name: string): void;
  /** Makes a write fail until it is given undefined. */
  fail(write: string, error: Error | undefined): void;
}

/** Kinds whose generation the API server counts. */
const counted = new Set(["Deployment", "DaemonSet", "CustomResourceDefinition", "KubeVirt"]);

export function createFakeCluster(now: () => number): FakeCluster {
  const objects = new Map<string, { type: ResourceType; object: Body }>();
  const watchers = new Set<Watcher>();
  const history: LoggedEvent[] = [];
  const writes: string[] = [];
  const failures = new Map<string, Error | undefined>();
  let version = 0;

  const idOf = (type: ResourceType, object: KubeObject): string => `${type.plural} ${keyOf(object)}`;
  const find = (type: ResourceType, name: string, namespace?: string): Body => {
    const metadata = namespace === undefined ? { name } : { name, namespace };
    const found = objects.get(idOf(type, { metadata }));
    if (found === undefined) throw failure("KubeNotFound", `${type.plural} ${name}`);
    return found.object;
  };
  const announce = (type: ResourceType, change: "ADDED" | "MODIFIED" | "DELETED", object: KubeObject): void => {
    const logged: LoggedEvent = {
      version,
      plural: type.plural,
      event: { type: change, object: structuredClone(object) },
    };
    history.push(logged);
    for (const watcher of watchers) watcher.push(logged);
  };
  const drop = (type: ResourceType, object: KubeObject): void => {
    objects.delete(idOf(type, object));
    version++;
    announce(type, "DELETED", object);
  };
  const store = (type: ResourceType, next: Body): Body => {
    const old = objects.get(idOf(type, next))?.object;
    const body: Body = structuredClone({ ...next, kind: type.kind });
    const keep = old?.metadata ?? { uid: `uid-${++version}`, creationTimestamp: new Date(now()).toISOString() };
    body.metadata = { ...keep, ...body.metadata };
    if (old !== undefined && jsonEqual(strip(old), strip(body))) return structuredClone(old);
    if (counted.has(type.kind) && (old === undefined || !jsonEqual(specOf(old), specOf(body)))) {
      body.metadata.generation = (old?.metadata.generation ?? 0) + 1;
    }
    body.metadata.resourceVersion = String(++version);
    objects.set(idOf(type, body), { type, object: body });
    announce(type, old === undefined ? "ADDED" : "MODIFIED", body);
    const ended = body.metadata.deletionTimestamp !== undefined && (body.metadata.finalizers ?? []).length === 0;
    if (ended) drop(type, body);
    return structuredClone(body);
  };
  const record = (verb: string, type: ResourceType, name: string): void => {
    const write = `${verb} ${type.kind} ${name}`;
    const error = failures.get(write);
    if (error !== undefined) throw error;
    writes.push(write);
  };

  /** Who binds a role must have what it grants, so it must exist. */
  const checkRoleRef = (object: Body & { roleRef?: RoleRef }): void => {
    const { roleRef } = object;
    const found = [...objects.values()].some(
      ({ type, object: role }) => type.kind === roleRef?.kind && role.metadata.name === roleRef.name,
    );
    if (roleRef !== undefined && !found) throw failure("KubeNotFound", `${roleRef.kind} ${roleRef.name}`);
  };

  // The generic methods of the real client cannot be written for objects of unknown type; callers see the real types.
  const client = {
    get: async (type: ResourceType, name: string, namespace?: string) => structuredClone(find(type, name, namespace)),
    list: async (type: ResourceType, options: { labelSelector?: string } = {}) => ({
      metadata: { resourceVersion: String(version) },
      items: [...objects.values()]
        .filter((entry) => entry.type.plural === type.plural && selector(options)(entry.object))
        .map((entry) => structuredClone(entry.object)),
    }),
    watch: (type: ResourceType, request: WatchRequest = {}) => watchFrom({ watchers, history }, type, request),
    create: async (type: ResourceType, object: Body) => {
      record("create", type, object.metadata.name ?? "");
      return store(type, object);
    },
    update: async (type: ResourceType, object: Body) => store(type, object),
    patch: async (type: ResourceType, name: string, namespace: string | undefined, patch: { body: unknown }) => {
      const old = find(type, name, namespace);
      const body = patch.body as { metadata?: { resourceVersion?: string } };
      const expected = body.metadata?.resourceVersion;
      if (expected !== undefined && expected !== old.metadata.resourceVersion) throw failure("KubeConflict", name);
      record("patch", type, name);
      return store(type, applyMergePatch(old, body));
    },
    apply: async (type: ResourceType, object: Body) => {
      record("apply", type, object.metadata.name ?? "");
      checkRoleRef(object);
      const old = objects.get(idOf(type, object))?.object;
      return store(type, { ...(old?.status === undefined ? {} : { status: old.status }), ...object });
    },
    delete: async (type: ResourceType, name: string, namespace?: string) => {
      record("delete", type, name);
      const object = find(type, name, namespace);
      if ((object.metadata.finalizers ?? []).length === 0) return drop(type, object);
      const deletionTimestamp = new Date(now()).toISOString();
      store(type, { ...object, metadata: { ...object.metadata, deletionTimestamp } });
    },
  } as unknown as Client;

  const entries = (kind: string): { type: ResourceType; object: Body }[] =>
    [...objects.values()].filter(({ type }) => type.kind === kind);
  return {
    client,
    writes,
    get: (kind, name) => entries(kind).find(({ object }) => object.metadata.name === name)?.object,
    list: (kind) => entries(kind).map(({ object }) => object),
    put: (type, object) => store(type, object),
    remove(kind, name) {
      const entry = entries(kind).find(({ object }) => object.metadata.name === name);
      if (entry !== undefined) drop(entry.type, entry.object);
    },
    fail: (write, error) => void failures.set(write, error),
  };
}

async function* watchFrom(
  { watchers, history }: { watchers: Set<Watcher>; history: readonly LoggedEvent[] },
  type: ResourceType,
  request: WatchRequest,
): AsyncGenerator<WatchEvent<KubeObject>> {
  const selects = selector(request);
  const wanted = ({ plural, event }: LoggedEvent): boolean => plural === type.plural && selects(event.object);
  const from = Number(request.resourceVersion ?? 0);
  const queue = history.filter((logged) => logged.version > from && wanted(logged)).map(({ event }) => event);
  let wake = (): void => {};
  const watcher: Watcher = {
    push(logged) {
      if (!wanted(logged)) return;
      queue.push(logged.event);
      wake();
    },
  };
  watchers.add(watcher);
  request.signal?.addEventListener("abort", () => wake());
  try {
    while (request.signal?.aborted !== true) {
      const event = queue.shift();
      if (event === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield structuredClone(event);
    }
  } finally {
    watchers.delete(watcher);
  }
}

function selector(options: { labelSelector?: string }): (object: KubeObject) => boolean {
  if (options.labelSelector === undefined) return () => true;
  const requirements = parseLabelSelector(options.labelSelector);
  return (object) => matchesRequirements(requirements, object.metadata.labels ?? {});
}

function failure(code: string, message: string): Error {
  return new PolyvirtError(code, message, { retry: true });
}

function strip(object: Body): unknown {
  const { resourceVersion: _version, generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function specOf(object: Body): unknown {
  const { metadata: _metadata, status: _status, ...spec } = object;
  return spec;
}
