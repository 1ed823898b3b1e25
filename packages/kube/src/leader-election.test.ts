import type { Lease } from "@polyvirt/api/k8s";
import { silentLogger } from "@polyvirt/core";
import { createManualClock, type ManualClock } from "@polyvirt/core/testing";
import { describe, expect, it } from "vitest";
import { errorOfStatus, errors } from "./errors.ts";
import { runAsLeader, type LeaderElectionOptions } from "./leader-election.ts";

const refusal = (code: number, reason: string) =>
  errorOfStatus("lease", code, { apiVersion: "v1", kind: "Status", status: "Failure", reason });

/** One Lease with optimistic locking, as the API server keeps it. */
function leaseStore() {
  let lease: Lease | undefined;
  let version = 0;
  const store = {
    reachable: true,
    current: () => lease,
    /** The client of one process, which can be cut off from the server. */
    client(isReachable: () => boolean = () => true): LeaderElectionOptions["client"] {
      const check = () => {
        if (!store.reachable || !isReachable()) throw errors.KubeUnavailable("the server is away");
      };
      const write = (object: Lease): Lease => {
        version++;
        lease = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
        return structuredClone(lease);
      };
      // The election uses the client for Leases only.
      return {
        async get() {
          check();
          if (lease === undefined) throw refusal(404, "NotFound");
          return structuredClone(lease);
        },
        async create(_type: unknown, object: Lease) {
          check();
          if (lease !== undefined) throw refusal(409, "AlreadyExists");
          return write(object);
        },
        async update(_type: unknown, object: Lease) {
          check();
          if (object.metadata.resourceVersion !== lease?.metadata.resourceVersion) throw refusal(409, "Conflict");
          return write(object);
        },
      } as unknown as LeaderElectionOptions["client"];
    },
  };
  return store;
}

interface Candidate {
  readonly stop: AbortController;
  readonly result: Promise<unknown>;
  isLeading(): boolean;
}

function candidate(clock: ManualClock, client: LeaderElectionOptions["client"], identity: string): Candidate {
  const stop = new AbortController();
  let leading = false;
  const options = { client, clock, logger: silentLogger, namespace: "kubevirt", name: "test", identity };
  const result = runAsLeader(options, stop.signal, async (signal) => {
    leading = true;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    leading = false;
  }).then(
    () => "ended",
    (error: unknown) => error,
  );
  return { stop, result, isLeading: () => leading };
}

describe("runAsLeader", () => {
  it("lets one lead and the other take over at once when the first gives up", async () => {
    const clock = createManualClock();
    const store = leaseStore();
    const first = candidate(clock, store.client(), "a");
    await clock.advance(0);
    const second = candidate(clock, store.client(), "b");
    await clock.advance(60_000);
    expect([first.isLeading(), second.isLeading()]).toEqual([true, false]);
    expect(store.current()?.spec).toMatchObject({ holderIdentity: "a", leaseTransitions: 0 });
    first.stop.abort();
    expect(await first.result).toBe("ended");
    await clock.advance(3_000);
    expect(second.isLeading()).toBe(true);
    expect(store.current()?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    second.stop.abort();
    await second.result;
  });

  it("stops the leader that is cut off before another one begins", async () => {
    const clock = createManualClock();
    const store = leaseStore();
    let connected = true;
    const first = candidate(
      clock,
      store.client(() => connected),
      "a",
    );
    await clock.advance(0);
    const second = candidate(clock, store.client(), "b");
    await clock.advance(20_000);
    connected = false;
    let overlap = false;
    for (let elapsed = 0; elapsed < 40_000; elapsed += 500) {
      await clock.advance(500);
      overlap ||= first.isLeading() && second.isLeading();
    }
    expect([first.isLeading(), second.isLeading(), overlap]).toEqual([false, true, false]);
    expect(await first.result).toMatchObject({ code: "KubeLeaseLost", retry: false });
    second.stop.abort();
    await second.result;
  });

  it("goes on leading through a short outage", async () => {
    const clock = createManualClock();
    const store = leaseStore();
    const only = candidate(clock, store.client(), "a");
    await clock.advance(10_000);
    store.reachable = false;
    await clock.advance(6_000);
    store.reachable = true;
    await clock.advance(30_000);
    expect(only.isLeading()).toBe(true);
    only.stop.abort();
    await only.result;
  });

  it("takes its own lease back after a restart without waiting", async () => {
    const clock = createManualClock();
    const store = leaseStore();
    const client = store.client();
    await client.create(undefined as never, {
      metadata: { name: "test" },
      spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" },
    });
    const again = candidate(clock, client, "a");
    await clock.advance(0);
    expect(again.isLeading()).toBe(true);
    again.stop.abort();
    await again.result;
  });

  it("ends without ever leading when it is told to", async () => {
    const clock = createManualClock();
    const store = leaseStore();
    store.reachable = false;
    const waiting = candidate(clock, store.client(), "a");
    await clock.advance(5_000);
    waiting.stop.abort();
    expect(await waiting.result).toBe("ended");
    expect(clock.pendingTimers()).toBe(0);
  });
});
