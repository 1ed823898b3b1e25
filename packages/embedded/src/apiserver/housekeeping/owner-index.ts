import type { Store } from "../../store/store.ts";
import { foregroundFinalizer } from "../registry/deletion.ts";

interface Node {
  readonly key: string;
  readonly uid: string;
  readonly namespace: string;
  /** UIDs of the owners. */
  readonly owners: readonly string[];
  readonly deleting: boolean;
  /** It is being deleted in the foreground, so it goes only after what it owns. */
  readonly waiting: boolean;
}

/** What became of an owner, as seen from something it owns. */
export type OwnerState = "there" | "waiting" | "gone";

export interface OwnerChange {
  readonly uid: string;
  readonly key: string;
  readonly gone: boolean;
  /** Whether there may be something to do about the object itself: it has owners, or is being deleted. */
  readonly concerns: boolean;
}

/** Who owns whom, by UID, kept up with the store. The objects themselves stay on disk. */
export class OwnerIndex {
  readonly #byUid = new Map<string, Node>();
  readonly #dependents = new Map<string, Set<string>>();

  constructor(store: Store, onChange: (change: OwnerChange) => void) {
    for (const { key, value } of store.range("").entries) this.#put(key, value);
    store.subscribe((events) => {
      for (const { key, value, previous } of events) {
        if (value !== undefined) {
          const node = this.#put(key, value);
          onChange({ uid: node.uid, key, gone: false, concerns: node.owners.length > 0 || node.deleting });
        } else if (previous !== undefined) {
          const { uid } = parseNode(key, previous.value);
          this.#remove(uid);
          onChange({ uid, key, gone: true, concerns: false });
        }
      }
    });
  }

  /** An owner must be in the same namespace, or in none; elsewhere it is as good as gone. */
  stateOf(uid: string, namespace: string): OwnerState {
    const node = this.#byUid.get(uid);
    if (node === undefined || (node.namespace !== "" && node.namespace !== namespace)) return "gone";
    return node.waiting ? "waiting" : "there";
  }

  keysOfDependents(uid: string): string[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#byUid.get(dependent)?.key ?? []);
  }

  /** Keys of all objects that name an owner. */
  owned(): string[] {
    return [...this.#byUid.values()].filter((node) => node.owners.length > 0).map((node) => node.key);
  }

  #put(key: string, value: Buffer): Node {
    const node = parseNode(key, value);
    this.#unlink(node.uid);
    this.#byUid.set(node.uid, node);
    for (const owner of node.owners) {
      const dependents = this.#dependents.get(owner) ?? new Set<string>();
      dependents.add(node.uid);
      this.#dependents.set(owner, dependents);
    }
    return node;
  }

  #remove(uid: string): void {
    this.#unlink(uid);
    this.#byUid.delete(uid);
  }

  #unlink(uid: string): void {
    for (const owner of this.#byUid.get(uid)?.owners ?? []) {
      const dependents = this.#dependents.get(owner);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner);
    }
  }
}

function parseNode(key: string, value: Buffer): Node {
  // Everything in the store is an object that this server wrote.
  const { metadata } = JSON.parse(value.toString()) as {
    metadata: {
      uid: string;
      namespace?: string;
      deletionTimestamp?: string;
      finalizers?: string[];
      ownerReferences?: { uid: string }[];
    };
  };
  const deleting = metadata.deletionTimestamp !== undefined;
  const owners = metadata.ownerReferences?.map((owner) => owner.uid) ?? [];
  return {
    key,
    uid: metadata.uid,
    namespace: metadata.namespace ?? "",
    owners,
    deleting,
    waiting: deleting && metadata.finalizers?.includes(foregroundFinalizer) === true,
  };
}
