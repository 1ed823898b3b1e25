import type { GenerationStatus } from "@polyvirt/api";
import type { Clock, Logger } from "@polyvirt/core";
import { customResourceDefinitions, type CustomResourceDefinition, type KubeObject } from "@polyvirt/api/k8s";
import { createInformer, keyOf, type Informer, type KubeClient } from "@polyvirt/kube";
import { createApplyRecords, idOf, type ApplyRecords } from "./apply-records.ts";
import { errors } from "./errors.ts";
import { managedSelector } from "./installation.ts";
import { managedTypes, typeOf } from "./managed-types.ts";

const fieldManager = "virt-operator";
const SEEN_LIMIT_MS = 30_000;

interface InstalledObjectsDeps {
  readonly client: Pick<KubeClient, "list" | "watch" | "apply" | "delete">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace: string;
}

/** The objects that virt-operator has made, as the API server has them, and how they are brought to what they should be. */
export interface InstalledObjects {
  start(signal: AbortSignal): Promise<void>;
  onChange(handler: () => void): void;
  /** What the API server has for a wanted object. */
  find(wanted: KubeObject): KubeObject | undefined;
  all(): KubeObject[];
  /** Applies the objects that differ from what they should be. Returns those that were written. */
  apply(wanted: readonly KubeObject[]): Promise<KubeObject[]>;
  remove(object: KubeObject): Promise<void>;
  /** What is noted in the status, so that the next process need not write everything again. */
  generations(wanted: readonly KubeObject[]): GenerationStatus[];
  restore: ApplyRecords["restore"];
}

export function createInstalledObjects(deps: InstalledObjectsDeps): InstalledObjects {
  const informers = new Map<string, Informer<KubeObject>>(
    managedTypes.map((type) => [
      type.kind,
      createInformer(deps.client, type, {
        clock: deps.clock,
        logger: deps.logger,
        labelSelector: managedSelector,
        namespace: type.namespaced ? deps.namespace : undefined,
        // Schemas are large, and their generation tells when they change.
        ...(type === customResourceDefinitions ? { transform: withoutSchemas } : {}),
      }),
    ]),
  );
  const records = createApplyRecords();
  const waiters = new Map<string, () => void>();
  for (const informer of informers.values()) {
    const wake = (object: KubeObject): void => waiters.get(idOf(object))?.();
    informer.on({ onSet: wake, onDelete: wake });
  }
  const find = (wanted: KubeObject): KubeObject | undefined => informers.get(wanted.kind ?? "")?.get(keyOf(wanted));

  /** Waits until the cache has seen our write: what is decided next must not rest on the state before it. */
  const seen = async (wanted: KubeObject, before: KubeObject | undefined): Promise<void> => {
    const isSeen = (): boolean => find(wanted)?.metadata.resourceVersion !== before?.metadata.resourceVersion;
    if (isSeen()) return;
    const id = idOf(wanted);
    await new Promise<void>((resolve, reject) => {
      const limit = deps.clock.setTimer(SEEN_LIMIT_MS, () => {
        reject(errors.OperatorWriteUnseen(`wait for the watch to show ${id}`, { fields: { object: id } }));
      });
      waiters.set(id, () => {
        if (!isSeen()) return;
        limit.cancel();
        resolve();
      });
    }).finally(() => waiters.delete(id));
  };

  const applyOne = async (wanted: KubeObject): Promise<KubeObject | undefined> => {
    const observed = find(wanted);
    if (records.isCurrent(wanted, observed)) return undefined;
    const result = await deps.client.apply(typeOf(wanted), wanted, { fieldManager, force: true });
    records.record(wanted, result);
    if (observed?.metadata.resourceVersion === result.metadata.resourceVersion) return undefined;
    await seen(wanted, observed);
    return wanted;
  };

  return {
    async start(signal) {
      for (const informer of informers.values()) informer.start(signal);
      await Promise.all([...informers.values()].map((informer) => informer.synced()));
    },
    onChange(handler) {
      for (const informer of informers.values()) informer.on({ onSet: handler, onDelete: handler });
    },
    find,
    all: () => managedTypes.flatMap((type) => informers.get(type.kind)?.list() ?? []),
    async apply(wanted) {
      // All of them come to an end before an error does: a write that nobody waited for would not be in the cache yet.
      const results = await Promise.allSettled(wanted.map(applyOne));
      return results.flatMap((result) => {
        if (result.status === "rejected") throw result.reason;
        return result.value ?? [];
      });
    },
    generations: (wanted) => records.generations(wanted, find),
    restore: (generations) => records.restore(generations),
    async remove(object) {
      records.forget(object);
      const { name = "", namespace, uid } = object.metadata;
      await deps.client.delete(typeOf(object), name, namespace, {
        propagationPolicy: "Foreground",
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      });
    },
  };
}

function withoutSchemas(object: KubeObject): KubeObject {
  // Only called for definitions.
  const definition = object as CustomResourceDefinition;
  const versions = definition.spec.versions.map(({ name, served, storage }) => ({ name, served, storage }));
  return { ...definition, spec: { ...definition.spec, versions } } as KubeObject;
}
