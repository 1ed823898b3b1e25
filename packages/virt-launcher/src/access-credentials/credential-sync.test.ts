import type { VirtualMachineInstance } from "@polyvirt/api";
import { silentLogger } from "@polyvirt/core";
import { describe, expect, it, vi } from "vitest";
import { CredentialSync, type CredentialResult } from "./credential-sync.ts";

const secret = { secret: { secretName: "keys" } };
const vmi: VirtualMachineInstance = {
  metadata: { name: "web" },
  spec: {
    domain: { devices: {} },
    accessCredentials: [
      { sshPublicKey: { source: secret, propagationMethod: { qemuGuestAgent: { users: ["root"] } } } },
      { userPassword: { source: { secret: { secretName: "words" } }, propagationMethod: { qemuGuestAgent: {} } } },
    ],
  },
};

/** A guest that writes down what it is given, fails as it is told to, and time that passes when it is told to. */
function setUp() {
  const secrets: Record<string, Record<string, string>> = { keys: { a: "A" }, words: { root: "pw" } };
  const done: string[] = [];
  const results: CredentialResult[] = [];
  const state = { failure: undefined as string | undefined };
  const waits: number[] = [];
  let tick = (): void => {};
  const act = async (what: string): Promise<void> => {
    if (state.failure !== undefined && what.startsWith(state.failure)) throw new Error(`\u001b[2Jno ${what}`);
    done.push(what);
  };
  const sync = new CredentialSync({
    agent: {
      addAuthorizedKeys: (user, keys) => act(`add ${user} ${keys.join()}`),
      removeAuthorizedKeys: (user, keys) => act(`remove ${user} ${keys.join()}`),
      setPassword: (user, password) => act(`password ${user} ${password}`),
    },
    readSecret(name) {
      const values = secrets[name];
      if (values === undefined) throw new Error(`there is no secret ${name}`);
      return new Map(Object.entries(values));
    },
    clock: {
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          waits.push(ms);
          tick = resolve;
          signal?.addEventListener("abort", () => reject(signal.reason));
        }),
    },
    logger: silentLogger,
    onResult: (result) => results.push(result),
  });
  /** Lets one look pass. */
  const next = async (): Promise<void> => {
    const before = tick;
    tick();
    await vi.waitFor(() => expect(tick).not.toBe(before));
  };
  return { sync, secrets, done, results, state, waits, next };
}

describe("CredentialSync", () => {
  it("waits for the agent, then gives everything once", async () => {
    const { sync, done, results, next } = setUp();
    sync.start(vmi);
    await next();
    expect(done).toEqual([]);
    expect(sync.result()).toBeUndefined();
    sync.agentChanged(true);
    await next();
    await next();
    expect(done).toEqual(["add root A", "password root pw"]);
    expect(results).toEqual([{ succeeded: true, message: "" }]);
    sync.close();
  });

  it("follows the secrets", async () => {
    const { sync, secrets, done, next } = setUp();
    sync.start(vmi);
    sync.agentChanged(true);
    await next();
    done.length = 0;
    secrets["keys"] = { a: "B" };
    secrets["words"] = { root: "new" };
    await next();
    expect(done).toEqual(["remove root A", "add root B", "password root new"]);
    sync.close();
  });

  it("gives everything again to a guest whose agent comes anew", async () => {
    const { sync, done, next } = setUp();
    sync.start(vmi);
    sync.agentChanged(true);
    await next();
    sync.agentChanged(false);
    await next();
    expect(done).toHaveLength(2);
    sync.agentChanged(true);
    await next();
    expect(done).toHaveLength(4);
    sync.close();
  });

  it("says why it failed in printable words, forgets nothing that was done, and tries again", async () => {
    const { sync, secrets, done, results, state, next } = setUp();
    state.failure = "password";
    sync.start(vmi);
    sync.agentChanged(true);
    await next();
    await next();
    expect(done).toEqual(["add root A"]);
    expect(results).toEqual([{ succeeded: false, message: " [2Jno password root pw" }]);
    secrets["keys"] = {};
    state.failure = undefined;
    await next();
    expect(done).toEqual(["add root A", "remove root A", "password root pw"]);
    expect(results.at(-1)).toEqual({ succeeded: true, message: "" });
    sync.close();
  });

  it("tries what keeps failing less and less often", async () => {
    const { sync, state, waits, next } = setUp();
    state.failure = "add";
    sync.start(vmi);
    sync.agentChanged(true);
    for (let count = 0; count < 6; count++) await next();
    state.failure = undefined;
    await next();
    expect(waits).toEqual([5, 10, 20, 40, 80, 80, 80, 5].map((seconds) => seconds * 1000));
    sync.close();
  });

  it("names the secret that is missing", async () => {
    const { sync, secrets, results, next } = setUp();
    delete secrets["words"];
    sync.start(vmi);
    sync.agentChanged(true);
    await next();
    expect(results).toEqual([{ succeeded: false, message: "there is no secret words" }]);
    sync.close();
  });

  it("does nothing for a guest without credentials", async () => {
    const { sync, done } = setUp();
    sync.start({ metadata: {}, spec: { domain: { devices: {} } } });
    sync.agentChanged(true);
    await sync.look();
    expect(done).toEqual([]);
  });
});
