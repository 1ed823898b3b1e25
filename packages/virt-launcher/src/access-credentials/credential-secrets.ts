import { readdirSync, readFileSync, statSync } from "node:fs";
import type { LauncherPaths } from "../launcher-paths.ts";
import { errors } from "../errors.ts";

/** More than anybody types, and a bound on what the guest's agent is given at once. */
const maxFiles = 256;
const maxFileBytes = 64 * 1024;

/** The values of a secret by their keys. */
export type SecretValues = ReadonlyMap<string, string>;

/** Where the kubelet keeps a secret that holds credentials up to date. */
function secretDirectory(paths: Pick<LauncherPaths, "private">, secretName: string): string {
  return `${paths.private}/secret/${secretName}-access-cred`;
}

/** What a secret holds now. Its links are followed: nobody but the kubelet writes there. */
export function readCredentialSecret(paths: Pick<LauncherPaths, "private">, secretName: string): SecretValues {
  const directory = secretDirectory(paths, secretName);
  const values = new Map<string, string>();
  try {
    for (const name of readdirSync(directory).toSorted()) {
      // The kubelet's own: versions of the content, of which the visible names are links into the current one.
      if (name.startsWith("..")) continue;
      const { size } = statSync(`${directory}/${name}`);
      if (values.size >= maxFiles || size > maxFileBytes) {
        throw new Error(`it has more than ${maxFiles} values, or one with more than ${maxFileBytes} bytes`);
      }
      values.set(name, readFileSync(`${directory}/${name}`, "utf8"));
    }
  } catch (cause) {
    throw errors.LauncherCredentialsFailed(`read the secret ${secretName}`, { cause, fields: { secretName } });
  }
  return values;
}
