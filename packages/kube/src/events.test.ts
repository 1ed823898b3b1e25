import type { Event } from "@polyvirt/api/k8s";
import { silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { describe, expect, it } from "vitest";
import { errorOfStatus } from "./errors.ts";
import { createEventRecorder, type EventRecorderOptions } from "./events.ts";

interface Written {
  readonly verb: "create" | "patch";
  readonly name: string;
  readonly body: Partial<Event>;
}

function setUp(fail: (write: Written) => Error | undefined = () => undefined) {
  const clock = createManualClock();
  const written: Written[] = [];
  const write = (entry: Written) => {
    const error = fail(entry);
    if (error !== undefined) throw error;
    written.push(entry);
  };
  // The recorder only writes events; the fake answers with what it was given.
  const client = {
    create: async (_type: unknown, object: Event) => {
      write({ verb: "create", name: object.metadata.name ?? "", body: object });
      return object;
    },
    patch: async (_type: unknown, name: string, _namespace: unknown, { body }: { body: Partial<Event> }) => {
      write({ verb: "patch", name, body });
      return body;
    },
  } as unknown as EventRecorderOptions["client"];
  const recorder = createEventRecorder({ client, clock, logger: silentLogger, component: "virt-test", host: "node-1" });
  return { clock, written, recorder };
}

const vmi = {
  apiVersion: "kubevirt.io/v1",
  kind: "VirtualMachineInstance",
  metadata: { name: "hello", namespace: "default", uid: "u1", resourceVersion: "5" },
};

const notFound = () =>
  errorOfStatus("patch events", 404, { apiVersion: "v1", kind: "Status", status: "Failure", reason: "NotFound" });

describe("createEventRecorder", () => {
  it("says who tells what about which object", async () => {
    const { recorder, written } = setUp();
    recorder.record(vmi, "Warning", "SyncFailed", "no kernel");
    await recorder.flush();
    expect(written[0]?.body).toMatchObject({
      metadata: { namespace: "default", name: expect.stringMatching(/^hello\.[0-9a-f]{16}$/) },
      involvedObject: { kind: "VirtualMachineInstance", name: "hello", namespace: "default", uid: "u1" },
      type: "Warning",
      reason: "SyncFailed",
      message: "no kernel",
      source: { component: "virt-test", host: "node-1" },
      firstTimestamp: "2026-01-01T00:00:00Z",
      count: 1,
    });
  });

  it("counts the same event instead of writing it again, for ten minutes", async () => {
    const { recorder, written, clock } = setUp();
    const tell = async () => {
      recorder.record(vmi, "Normal", "Started", "started");
      await recorder.flush();
    };
    await tell();
    await clock.advance(60_000);
    await tell();
    await tell();
    expect(written.map(({ verb }) => verb)).toEqual(["create", "patch", "patch"]);
    expect(written[2]).toMatchObject({
      name: written[0]?.name,
      body: { count: 3, lastTimestamp: "2026-01-01T00:01:00Z" },
    });
    await clock.advance(600_000);
    await tell();
    expect(written.at(-1)?.verb).toBe("create");
  });

  it.each([
    ["reason", { reason: "Other" }],
    ["message", { message: "other" }],
    ["object", { uid: "u2" }],
  ])("does not count events together that differ in their %s", async (_what, change: Record<string, string>) => {
    const { recorder, written } = setUp();
    recorder.record(vmi, "Normal", "Started", "started");
    const { uid = "u1", reason = "Started", message = "started" } = change;
    recorder.record({ ...vmi, metadata: { ...vmi.metadata, uid } }, "Normal", reason, message);
    await recorder.flush();
    expect(written.map(({ verb }) => verb)).toEqual(["create", "create"]);
    expect(new Set(written.map(({ name }) => name)).size).toBe(2);
  });

  it("writes a new one when the server has dropped the old", async () => {
    const { recorder, written } = setUp(({ verb }) => (verb === "patch" ? notFound() : undefined));
    recorder.record(vmi, "Normal", "Started", "started");
    recorder.record(vmi, "Normal", "Started", "started");
    await recorder.flush();
    expect(written.map(({ verb }) => verb)).toEqual(["create", "create"]);
  });

  it("never fails its caller, and cuts what is too long", async () => {
    let broken = true;
    const { recorder, written } = setUp(() => (broken ? new Error("server is away") : undefined));
    recorder.record(vmi, "Normal", "A", "lost");
    await recorder.flush();
    broken = false;
    recorder.record(vmi, "Normal", "B", "x".repeat(5000));
    await recorder.flush();
    expect(written.map(({ body }) => [body.reason, body.message?.length])).toEqual([["B", 1024]]);
  });

  it("keeps at most so many while the server is away", async () => {
    const { recorder, written } = setUp();
    for (let index = 0; index < 700; index++) recorder.record(vmi, "Normal", "Many", `number ${index}`);
    await recorder.flush();
    expect(written).toHaveLength(500);
  });

  it("puts events about cluster-scoped objects into the default namespace", async () => {
    const { recorder, written } = setUp();
    recorder.record({ apiVersion: "v1", kind: "Node", metadata: { name: "n1", uid: "n" } }, "Normal", "X", "x");
    await recorder.flush();
    expect(written[0]?.body.metadata?.namespace).toBe("default");
  });
});
