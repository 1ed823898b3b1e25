import type { VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import {
  afterStep,
  cloudInitKeys,
  needsAgent,
  noCredentials,
  planCredentials,
  wantedCredentials,
  type WantedCredentials,
} from "./credential-plan.ts";

type Credentials = NonNullable<VirtualMachineInstance["spec"]["accessCredentials"]>;

const guest = (accessCredentials: Credentials) => ({ spec: { domain: { devices: {} }, accessCredentials } });
const secret = (secretName: string) => ({ secret: { secretName } });
const sshFor = (users: string[], secretName = "keys"): Credentials[number] => ({
  sshPublicKey: { source: secret(secretName), propagationMethod: { qemuGuestAgent: { users } } },
});
const passwords: Credentials[number] = {
  userPassword: { source: secret("words"), propagationMethod: { qemuGuestAgent: {} } },
};
const onDisk = (method: "noCloud" | "configDrive"): Credentials[number] => ({
  sshPublicKey: { source: secret("keys"), propagationMethod: { [method]: {} } },
});
const secrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  keys: { a: "ssh-rsa A a\n\n# somebody's\nssh-rsa B b\r\n", b: "ssh-rsa A a" },
  more: { c: "ssh-rsa C c" },
  words: { root: "first\n", ann: "two words " },
};
const readSecret = (name: string) => new Map(Object.entries(secrets[name] ?? {}));
const given = (keys: Record<string, string[]>, words: Record<string, string> = {}): WantedCredentials => ({
  keys: new Map(Object.entries(keys)),
  passwords: new Map(Object.entries(words)),
});

describe("wantedCredentials", () => {
  it("gives every user the keys of all secrets that name it, each once", () => {
    const { keys } = wantedCredentials(guest([sshFor(["root", "ann"]), sshFor(["ann"], "more")]), readSecret);
    expect(Object.fromEntries(keys)).toEqual({
      root: ["ssh-rsa A a", "ssh-rsa B b"],
      ann: ["ssh-rsa A a", "ssh-rsa B b", "ssh-rsa C c"],
    });
  });

  it("takes a secret's keys for users and its values for passwords", () => {
    const wanted = wantedCredentials(guest([passwords]), readSecret);
    expect(Object.fromEntries(wanted.passwords)).toEqual({ root: "first", ann: "two words " });
  });

  it("leaves out what cloud-init brings", () => {
    const vmi = guest([onDisk("noCloud")]);
    expect(wantedCredentials(vmi, readSecret)).toEqual(noCredentials);
    expect(needsAgent(vmi)).toBe(false);
    expect(needsAgent(guest([passwords]))).toBe(true);
    expect(needsAgent(guest([sshFor(["root"])]))).toBe(true);
    expect(cloudInitKeys(vmi, "noCloud", readSecret)).toEqual(["ssh-rsa A a", "ssh-rsa B b"]);
    expect(cloudInitKeys(vmi, "configDrive", readSecret)).toEqual([]);
  });
});

describe("planCredentials", () => {
  it.each<[string, WantedCredentials, WantedCredentials, unknown[]]>([
    ["nothing when nothing changed", given({ root: ["A"] }, { root: "x" }), given({ root: ["A"] }, { root: "x" }), []],
    [
      "what is new",
      given({ root: ["A", "B"] }),
      given({ root: ["A"] }),
      [{ act: "addKeys", user: "root", keys: ["B"] }],
    ],
    [
      "what is gone, before what is new",
      given({ root: ["B"] }, { root: "y" }),
      given({ root: ["A"], ann: ["A"] }, { root: "x", ann: "z" }),
      [
        { act: "removeKeys", user: "root", keys: ["A"] },
        { act: "removeKeys", user: "ann", keys: ["A"] },
        { act: "addKeys", user: "root", keys: ["B"] },
        { act: "setPassword", user: "root", password: "y" },
      ],
    ],
  ])("does %s", (_what, wanted, before, steps) => {
    const plan = planCredentials(wanted, before);
    expect(plan).toEqual(steps);
    expect(planCredentials(wanted, plan.reduce(afterStep, before))).toEqual([]);
  });
});
