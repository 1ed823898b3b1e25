import type { KubeObject } from "@polyvirt/api/k8s";

export type IndexFunction<T> = (object: T) => readonly string[];

/** Objects by key, and the indexes over them. */
export class IndexedCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, { of: IndexFunction<T>; keys: Map<string, Set<string>> }>();

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>>) {
    for (const [name, of] of Object.entries(indexes)) this.#indexes.set(name, { of, keys: new Map() });
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  values(): T[] {
    return [...this.#objects.values()];
  }

  get size(): number {
    return this.#objects.size;
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new TypeError(`there is no index "${name}"`);
    const found: T[] = [];
    for (const key of index.keys.get(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  set(key: string, object: T): void {
    this.#unindex(key);
    this.#objects.set(key, object);
    for (const { of, keys } of this.#indexes.values()) {
      for (const value of of(object)) {
        const members = keys.get(value);
        if (members === undefined) keys.set(value, new Set([key]));
        else members.add(key);
      }
    }
  }

  delete(key: string): void {
    this.#unindex(key);
    this.#objects.delete(key);
  }

  #unindex(key: string): void {
    const old = this.#objects.get(key);
    if (old === undefined) return;
    for (const { of, keys } of this.#indexes.values()) {
      for (const value of of(old)) {
        const members = keys.get(value);
        members?.delete(key);
        if (members?.size === 0) keys.delete(value);
      }
    }
  }
}
