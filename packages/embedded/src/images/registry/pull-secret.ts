import type { Secret } from "@polyvirt/api/k8s";
import type { RegistryCredentials } from "./registries.ts";

interface DockerAuth {
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
}

/** Old names of Docker Hub that configurations still use. */
const hubNames = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/**
 * The credentials that a pod's pull secrets have for a repository. An entry may name a registry or a path in it; the longest
 * that fits wins. A secret that cannot be read is skipped, as Kubernetes does: another one may fit.
 */
export function pullCredentials(
  secrets: readonly Secret[],
  registry: string,
  repository: string,
): RegistryCredentials | undefined {
  const entries = secrets.flatMap((secret) => Object.entries(readSecret(secret)));
  const fitting = entries
    .map(([name, auth]) => ({ path: name.replace(/^https?:\/\//, "").replace(/\/(v[12]\/?)?$/, ""), auth }))
    .filter(({ path }) => fits(path, registry, repository))
    .toSorted((a, b) => b.path.length - a.path.length);
  return fitting.map(({ auth }) => credentialsOf(auth)).find((credentials) => credentials !== undefined);
}

function readSecret({ data = {} }: Secret): Readonly<Record<string, DockerAuth>> {
  const decode = (text: string): unknown => JSON.parse(Buffer.from(text, "base64").toString("utf8"));
  try {
    const [modern, old] = [data[".dockerconfigjson"], data[".dockercfg"]];
    // Both are Docker's own formats; what does not have their shape has no entry that fits.
    if (modern !== undefined) return (decode(modern) as { auths?: Record<string, DockerAuth> }).auths ?? {};
    return old === undefined ? {} : (decode(old) as Record<string, DockerAuth>);
  } catch {
    return {};
  }
}

function fits(path: string, registry: string, repository: string): boolean {
  const [host = "", ...rest] = path.split("/");
  const sameHost = host === registry || (hubNames.includes(host) && hubNames.includes(registry));
  const prefix = rest.join("/");
  return sameHost && (prefix === "" || repository === prefix || repository.startsWith(`${prefix}/`));
}

function credentialsOf({ auth, username, password }: DockerAuth): RegistryCredentials | undefined {
  if (username !== undefined && username !== "") return { username, password: password ?? "" };
  const text = auth === undefined ? "" : Buffer.from(auth, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
