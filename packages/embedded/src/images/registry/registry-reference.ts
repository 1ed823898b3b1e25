import { normalizeReference } from "../image-reference.ts";

/** An image reference taken apart for the registry that has it. */
export interface RegistryReference {
  /** As references name it, such as `quay.io` or `localhost:5000`. */
  readonly registry: string;
  readonly repository: string;
  /** Tag or digest: what to ask the registry for. */
  readonly version: string;
  readonly digest: string | undefined;
}

const defaultRegistry = "docker.io";

/** Names without a registry are Docker Hub's, as everywhere. */
export function parseRegistryReference(reference: string): RegistryReference {
  const [name = "", digest] = normalizeReference(reference).split("@");
  const tagAt = name.indexOf(":", name.lastIndexOf("/") + 1);
  const tag = tagAt < 0 ? "latest" : name.slice(tagAt + 1);
  const path = tagAt < 0 ? name : name.slice(0, tagAt);
  const [first = "", ...rest] = path.split("/");
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const registry = isRegistry ? first : defaultRegistry;
  const repository = isRegistry ? rest.join("/") : rest.length === 0 ? `library/${path}` : path;
  return { registry, repository, version: digest ?? tag, digest };
}
