import type { Resource } from "./resource.ts";

/** The resources that are served now. Built-in ones are there from the start, custom ones come and go. */
export class ResourceRegistry {
  readonly #byPath = new Map<string, Resource>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  constructor(resources: Iterable<Resource>) {
    for (const resource of resources)
      this.#byPath.set(pathKey(resource.group, resource.version, resource.plural), resource);
  }

  /** Changes whenever the set of resources does; caches compare it. */
  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(pathKey(group, version, plural));
  }

  findKind(apiVersion: string, kind: string): Resource | undefined {
    for (const resource of this.#byPath.values()) {
      if (resource.kind === kind && resource.apiVersion === apiVersion) return resource;
    }
    return undefined;
  }

  /** Any version of a resource: all share one bucket. */
  findBucket(bucket: string): Resource | undefined {
    for (const resource of this.#byPath.values()) if (resource.bucket === bucket && !resource.virtual) return resource;
    return undefined;
  }

  all(): Resource[] {
    return [...this.#byPath.values()];
  }

  /** One resource per bucket, in its preferred version. */
  stored(): Resource[] {
    const byBucket = new Map<string, Resource>();
    for (const resource of this.#byPath.values()) {
      if (resource.virtual) continue;
      const known = byBucket.get(resource.bucket);
      if (known === undefined || resource.apiVersion === resource.storageApiVersion)
        byBucket.set(resource.bucket, resource);
    }
    return [...byBucket.values()];
  }

  /** Replaces all versions of one custom resource; none removes it. */
  replace(group: string, plural: string, versions: readonly Resource[]): void {
    for (const [key, resource] of this.#byPath) {
      if (resource.group === group && resource.plural === plural) this.#byPath.delete(key);
    }
    for (const resource of versions) this.#byPath.set(pathKey(group, resource.version, plural), resource);
    this.#generation++;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }
}

const pathKey = (group: string, version: string, plural: string): string => `${group}/${version}/${plural}`;
