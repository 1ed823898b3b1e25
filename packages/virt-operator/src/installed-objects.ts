import { createHash } from "node:crypto";
import type { Clock, Logger } from "@polyvirt/core";
import { customResourceDefinitions, type CustomResourceDefinition, type KubeObject } from "@polyvirt/api/k8s";
import { createInformer, keyOf, type Informer, type KubeClient } from "@polyvirt/kube";
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

interface LastApply {
  readonly hash: string;
  readonly fingerprint: string;
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
  const applied = new Map<string, LastApply>();
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
    const hash = createHash("sha256").update(JSON.stringify(wanted)).digest("hex");
    const observed = find(wanted);
    const last = applied.get(idOf(wanted));
    if (observed !== undefined && last?.hash === hash && last.fingerprint === fingerprintOf(observed)) return undefined;
    const result = await deps.client.apply(typeOf(wanted), wanted, { fieldManager, force: true });
    applied.set(idOf(wanted), { hash, fingerprint: fingerprintOf(result) });
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
      const results = await Promise.all(wanted.map(applyOne));
      return results.filter((object) => object !== undefined);
    },
    async remove(object) {
      applied.delete(idOf(object));
      const { name = "", namespace, uid } = object.metadata;
      await deps.client.delete(typeOf(object), name, namespace, {
        propagationPolicy: "Foreground",
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      });
    },
  };
}

function idOf(object: KubeObject): string {
  return `${object.kind} ${keyOf(object)}`;
}

/** Changes when someone changes what we wrote: status does not count where the API server counts generations. */
function fingerprintOf(object: KubeObject): string {
  const { uid, generation, resourceVersion } = object.metadata;
  return `${uid}/${generation === undefined ? `v${resourceVersion}` : `g${generation}`}`;
}

function withoutSchemas(object: KubeObject): KubeObject {
  // Only called for definitions.
  const definition = object as CustomResourceDefinition;
  const versions = definition.spec.versions.map(({ name, served, storage }) => ({ name, served, storage }));
  return { ...definition, spec: { ...definition.spec, versions } } as KubeObject;
}
