import type { Node } from "@polyvirt/api/k8s";
import { silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { describe, expect, it } from "vitest";
import { createHeartbeat, type HeartbeatDeps, type NodeReport } from "./heartbeat.ts";

const usable = { type: "Usable", status: "False" as const, reason: "ProbeFailed", message: "no progress" };

function setUp(node: Partial<Node> = {}) {
  const clock = createManualClock();
  const patches: { type: string; body: unknown; subresource?: string }[] = [];
  let failures = 0;
  const state = { report: { labels: { "kubevirt.io/vm-arch-amd64": "true" }, condition: usable } as NodeReport };
  // Only these two calls are made, always for this one node.
  const client = {
    get: async () => ({ metadata: { name: "node-1" }, ...node }),
    patch: async (_type: unknown, _name: unknown, _namespace: unknown, patch: (typeof patches)[number]) => {
      if (failures-- > 0) throw new Error("no");
      patches.push(patch);
      return {};
    },
  } as unknown as HeartbeatDeps["client"];
  const heartbeat = createHeartbeat({
    client,
    clock,
    logger: silentLogger,
    nodeName: "node-1",
    report: () => state.report,
  });
  const stop = new AbortController();
  const running = heartbeat.run(stop.signal);
  return { clock, patches, state, heartbeat, stop, running, fail: (times: number) => (failures = times) };
}

describe("createHeartbeat", () => {
  it("writes labels and schedulability in one patch, and the condition", async () => {
    const { clock, patches, stop, running } = setUp();
    await clock.advance(0);
    expect(patches).toEqual([
      {
        type: "merge",
        body: {
          metadata: {
            labels: { "kubevirt.io/vm-arch-amd64": "true", "kubevirt.io/schedulable": "true" },
            annotations: { "kubevirt.io/heartbeat": "2026-01-01T00:00:00Z" },
          },
        },
      },
      {
        type: "strategic",
        subresource: "status",
        body: {
          status: {
            conditions: [
              { ...usable, lastTransitionTime: "2026-01-01T00:00:00Z", lastHeartbeatTime: "2026-01-01T00:00:00Z" },
            ],
          },
        },
      },
    ]);
    stop.abort();
    await running;
    expect(patches.at(-1)?.body).toMatchObject({ metadata: { labels: { "kubevirt.io/schedulable": "false" } } });
  });

  it("does not write a condition that is there already", async () => {
    const { clock, patches } = setUp({ status: { conditions: [usable] } });
    await clock.advance(0);
    expect(patches.map(({ type }) => type)).toEqual(["merge"]);
  });

  it("beats every minute, and at once when something has changed", async () => {
    const { clock, patches, heartbeat } = setUp({ status: { conditions: [usable] } });
    await clock.advance(1000);
    expect(patches).toHaveLength(1);
    heartbeat.wake();
    await clock.advance(0);
    expect(patches).toHaveLength(2);
    await clock.advance(72_000);
    expect(patches.length).toBeGreaterThanOrEqual(3);
  });

  it("leaves the labels of a node alone that says so", async () => {
    const metadata = { name: "node-1", annotations: { "node-labeller.kubevirt.io/skip-node": "" } };
    const { clock, patches } = setUp({ metadata });
    await clock.advance(0);
    expect(patches[0]?.body).toMatchObject({ metadata: { labels: { "kubevirt.io/schedulable": "true" } } });
    expect(JSON.stringify(patches[0])).not.toContain("vm-arch");
  });

  it("tries again soon after a failure", async () => {
    const { clock, patches, fail } = setUp();
    fail(1);
    await clock.advance(0);
    expect(patches).toEqual([]);
    await clock.advance(2_000);
    expect(patches).not.toEqual([]);
  });
});
