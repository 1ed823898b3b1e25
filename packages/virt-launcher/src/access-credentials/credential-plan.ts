import type { VirtualMachineInstance } from "@polyvirt/api";
import type { SecretValues } from "./credential-secrets.ts";

/** What the guest's users should have, as the VMI's credentials and the secrets say. */
export interface WantedCredentials {
  /** By user. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
  readonly passwords: ReadonlyMap<string, string>;
}

/** One thing to do in the guest. Keys are taken away before others are added, so that the order of users is kept. */
export type CredentialStep =
  | { readonly act: "addKeys" | "removeKeys"; readonly user: string; readonly keys: readonly string[] }
  | { readonly act: "setPassword"; readonly user: string; readonly password: string };

type Credential = NonNullable<VirtualMachineInstance["spec"]["accessCredentials"]>[number];
type ReadSecret = (secretName: string) => SecretValues;

export const noCredentials: WantedCredentials = { keys: new Map(), passwords: new Map() };

/** Whether the guest's agent has anything to do with the VMI's credentials. */
export function needsAgent({ spec }: Pick<VirtualMachineInstance, "spec">): boolean {
  return (spec.accessCredentials ?? []).some(
    ({ sshPublicKey, userPassword }) =>
      (sshPublicKey?.propagationMethod.qemuGuestAgent ?? userPassword?.propagationMethod.qemuGuestAgent) !== undefined,
  );
}

export function wantedCredentials(
  { spec }: Pick<VirtualMachineInstance, "spec">,
  readSecret: ReadSecret,
): WantedCredentials {
  const keys = new Map<string, string[]>();
  const passwords = new Map<string, string>();
  for (const { sshPublicKey, userPassword } of spec.accessCredentials ?? []) {
    const users = sshPublicKey?.propagationMethod.qemuGuestAgent?.users ?? [];
    for (const user of users) keys.set(user, union(keys.get(user) ?? [], keysOf(sshPublicKey, readSecret)));
    if (userPassword?.propagationMethod.qemuGuestAgent === undefined) continue;
    for (const [user, value] of readSecret(userPassword.source.secret?.secretName ?? "")) {
      // Whoever wrote the secret with an editor did not mean the end of its line.
      passwords.set(user, value.replace(/\r?\n$/, ""));
    }
  }
  return { keys, passwords };
}

/** Keys that a guest finds on its cloud-init disk. */
export function cloudInitKeys(
  { spec }: Pick<VirtualMachineInstance, "spec">,
  method: "noCloud" | "configDrive",
  readSecret: ReadSecret,
): string[] {
  return (spec.accessCredentials ?? [])
    .filter(({ sshPublicKey }) => sshPublicKey?.propagationMethod[method] !== undefined)
    .reduce<string[]>((keys, { sshPublicKey }) => union(keys, keysOf(sshPublicKey, readSecret)), []);
}

/** Each value of the secret has keys, one in a line, as such files have them. */
function keysOf(source: Credential["sshPublicKey"], readSecret: ReadSecret): string[] {
  const values = readSecret(source?.source.secret?.secretName ?? "");
  return [...values.values()]
    .flatMap((value) => value.split("\n"))
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

function union(left: readonly string[], right: readonly string[]): string[] {
  return [...new Set([...left, ...right])];
}

/** How to get from what was given to what is wanted. What the guest's users have from elsewhere is left alone. */
export function planCredentials(wanted: WantedCredentials, given: WantedCredentials): CredentialStep[] {
  const users = union([...given.keys.keys()], [...wanted.keys.keys()]);
  return [
    ...users.flatMap((user) => step("removeKeys", user, missing(given.keys.get(user), wanted.keys.get(user)))),
    ...users.flatMap((user) => step("addKeys", user, missing(wanted.keys.get(user), given.keys.get(user)))),
    ...[...wanted.passwords]
      .filter(([user, password]) => given.passwords.get(user) !== password)
      .map(([user, password]) => ({ act: "setPassword", user, password }) as const),
  ];
}

function step(act: "addKeys" | "removeKeys", user: string, keys: readonly string[]): CredentialStep[] {
  return keys.length === 0 ? [] : [{ act, user, keys }];
}

function missing(of: readonly string[] = [], from: readonly string[] = []): string[] {
  return of.filter((key) => !from.includes(key));
}

/** What the guest has been given once a step is done, so that a later failure forgets nothing. */
export function afterStep(given: WantedCredentials, step: CredentialStep): WantedCredentials {
  if (step.act === "setPassword") {
    return { ...given, passwords: new Map(given.passwords).set(step.user, step.password) };
  }
  const had = given.keys.get(step.user) ?? [];
  const has = step.act === "addKeys" ? union(had, step.keys) : missing(had, step.keys);
  return { ...given, keys: new Map(given.keys).set(step.user, has) };
}
