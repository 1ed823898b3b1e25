import { createHash } from "node:crypto";
import type { GenerationStatus } from "@polyvirt/api";
import type { KubeObject } from "@polyvirt/api/k8s";
import { keyOf } from "@polyvirt/kube";
import { managedTypes, typeOf } from "./managed-types.ts";

interface ApplyRecord {
  /** Of what we wrote. */
  readonly hash: string;
  /** Of what came of it; changes when someone else writes the object. */
  readonly version: string;
  /** Unknown in records of an earlier process. */
  readonly uid?: string;
}

/** Remembers what was written last, to tell what has to be written again: what is wanted has changed, or someone else did. */
export interface ApplyRecords {
  isCurrent(wanted: KubeObject, observed: KubeObject | undefined): boolean;
  record(wanted: KubeObject, result: KubeObject): void;
  forget(object: KubeObject): void;
  /** Takes over what an earlier process has noted in the status. */
  restore(generations: readonly GenerationStatus[]): void;
  /** What to note in the status: objects whose writes the API server counts. */
  generations(wanted: readonly KubeObject[], find: (wanted: KubeObject) => KubeObject | undefined): GenerationStatus[];
}

export function createApplyRecords(): ApplyRecords {
  const records = new Map<string, ApplyRecord>();
  return {
    isCurrent(wanted, observed) {
      const last = records.get(idOf(wanted));
      if (observed === undefined || last === undefined) return false;
      const sameObject = last.uid === undefined || last.uid === observed.metadata.uid;
      return sameObject && last.hash === hashOf(wanted) && last.version === versionOf(observed);
    },
    record(wanted, result) {
      const { uid } = result.metadata;
      const version = versionOf(result);
      records.set(idOf(wanted), { hash: hashOf(wanted), version, ...(uid === undefined ? {} : { uid }) });
    },
    forget: (object) => void records.delete(idOf(object)),
    restore(generations) {
      for (const { resource, namespace = "", name, hash = "", lastGeneration } of generations) {
        const type = managedTypes.find(({ plural }) => plural === resource);
        const metadata = namespace === "" ? { name } : { name, namespace };
        if (type !== undefined)
          records.set(idOf({ kind: type.kind, metadata }), { hash, version: `g${lastGeneration}` });
      }
    },
    generations(wanted, find) {
      return wanted.flatMap((object) => {
        const generation = find(object)?.metadata.generation;
        if (generation === undefined) return [];
        const { group, plural } = typeOf(object);
        const { name = "", namespace } = object.metadata;
        return [
          {
            group,
            resource: plural,
            name,
            ...(namespace === undefined ? {} : { namespace }),
            lastGeneration: generation,
            hash: hashOf(object),
          },
        ];
      });
    },
  };
}

export function idOf(object: KubeObject): string {
  return `${object.kind} ${keyOf(object)}`;
}

/** Status does not count where the API server counts generations. */
function versionOf({ metadata }: KubeObject): string {
  return metadata.generation === undefined ? `v${metadata.resourceVersion}` : `g${metadata.generation}`;
}

// Definitions are large and the same object each time.
const hashes = new WeakMap<KubeObject, string>();

function hashOf(object: KubeObject): string {
  const known = hashes.get(object);
  if (known !== undefined) return known;
  const hash = createHash("sha256").update(JSON.stringify(object)).digest("hex").slice(0, 32);
  hashes.set(object, hash);
  return hash;
}
