import { createMergePatch } from "@polyvirt/core";
import type { KubeObject, ObjectMeta, ResourceType } from "@polyvirt/api/k8s";
import type { KubeClient } from "../client/kube-client.ts";
import { keyOf, type Informer } from "./informer.ts";

interface WithStatus extends KubeObject {
  status?: object;
}

/**
 * Reads objects of one kind from an informer and writes them so that this process never acts on a state older than its
 * own last write: until the informer has caught up, `get` answers with what the server returned for the write.
 */
export interface ObjectWriter<T extends WithStatus> {
  get(key: string): T | undefined;
  /** The same for an object that came from the informer by another way (an index). */
  latest(cached: T): T;
  /** Writes what differs, if and only if nobody else has written since `object` (KubeConflict otherwise). */
  writeStatus(object: T, status: NonNullable<T["status"]>): Promise<T>;
  writeMetadata(object: T, change: Pick<ObjectMeta, "labels" | "annotations" | "finalizers">): Promise<T>;
  /** Takes note of a write that was made elsewhere. */
  wrote(before: T, after: T): void;
}

export interface ObjectWriterOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, "patch">;
  readonly type: ResourceType<T>;
  readonly informer: Pick<Informer<T>, "get">;
}

interface OwnWrite<T> {
  /** Versions that our writes have replaced. */
  readonly replaced: Set<string>;
  readonly object: T;
}

export function createObjectWriter<T extends WithStatus>(options: ObjectWriterOptions<T>): ObjectWriter<T> {
  const { client, type, informer } = options;
  const writes = new Map<string, OwnWrite<T>>();

  const latest = (cached: T): T => {
    const key = keyOf(cached);
    const own = writes.get(key);
    if (own === undefined) return cached;
    if (own.replaced.has(cached.metadata.resourceVersion ?? "")) return own.object;
    // The informer has seen our write, or something newer.
    writes.delete(key);
    return cached;
  };

  const wrote = (before: T, after: T): void => {
    const key = keyOf(before);
    const own = writes.get(key);
    const isNext = own !== undefined && own.object.metadata.resourceVersion === before.metadata.resourceVersion;
    const replaced = isNext ? own.replaced : new Set<string>();
    replaced.add(before.metadata.resourceVersion ?? "");
    if (before.metadata.resourceVersion !== after.metadata.resourceVersion)
      writes.set(key, { replaced, object: after });
  };

  const patch = async (object: T, body: object, subresource: string | undefined): Promise<T> => {
    const { name = "", namespace } = object.metadata;
    const request = { type: "merge", body, ...(subresource === undefined ? {} : { subresource }) } as const;
    const after = await client.patch(type, name, namespace, request);
    wrote(object, after);
    return after;
  };

  return {
    latest,
    wrote,
    get(key) {
      const cached = informer.get(key);
      if (cached !== undefined) return latest(cached);
      writes.delete(key);
      return undefined;
    },
    async writeStatus(object, status) {
      const change = createMergePatch(object.status ?? {}, status);
      if (change === undefined) return object;
      const { resourceVersion } = object.metadata;
      return patch(object, { metadata: { resourceVersion }, status: change }, "status");
    },
    async writeMetadata(object, change) {
      const { resourceVersion } = object.metadata;
      return patch(object, { metadata: { ...change, resourceVersion } }, undefined);
    },
  };
}
