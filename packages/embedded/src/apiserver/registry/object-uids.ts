import type { Store } from "../../store/store.ts";
import { RecentMap } from "../recent-map.ts";
import { objectOf } from "./object-codec.ts";
import { keyOf, type Resource } from "./resource.ts";

const remembered = 1000;

/** The UIDs of objects, which are asked for with every request of who is bound to one; read again only after a write. */
export class ObjectUids {
  readonly #store: Pick<Store, "get">;
  readonly #known = new RecentMap<string, { readonly revision: number; readonly uid: string | undefined }>(remembered);

  constructor(store: Pick<Store, "get">) {
    this.#store = store;
  }

  find(resource: Resource, namespace: string, name: string): string | undefined {
    const key = keyOf(resource, namespace, name);
    const entry = this.#store.get(key);
    if (entry === undefined) return undefined;
    const known = this.#known.get(key);
    if (known?.revision === entry.revision) return known.uid;
    const { uid } = objectOf(resource, entry).metadata;
    this.#known.set(key, { revision: entry.revision, uid });
    return uid;
  }
}
