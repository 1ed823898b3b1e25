import type { Node } from "@polyvirt/api/k8s";
import { silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import { describe, expect, it } from "vitest";
import { createSilentNodeReconciler, type SilentNodesDeps } from "./silent-nodes.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

async function look(node: Node | undefined) {
  const patches: unknown[] = [];
  const events: string[] = [];
  const reconciler = createSilentNodeReconciler({
    // The one call that is made.
    client: {
      patch: async (...request: unknown[]) => void patches.push(request),
    } as unknown as SilentNodesDeps["client"],
    clock: createManualClock(NOW),
    logger: silentLogger,
    recorder: { record: (_object, type, reason) => void events.push(`${type} ${reason}`) },
    nodes: { get: () => node },
  });
  return { result: await reconciler.reconcile("node-1"), patches, events };
}

const node = (secondsAgo: number | undefined, schedulable = "true"): Node => ({
  metadata: {
    name: "node-1",
    labels: { "kubevirt.io/schedulable": schedulable },
    annotations:
      secondsAgo === undefined ? {} : { "kubevirt.io/heartbeat": new Date(NOW - secondsAgo * 1000).toISOString() },
  },
});

describe("a node", () => {
  it("loses its guests' trust after five minutes of silence", async () => {
    const { patches, events } = await look(node(300));
    expect(patches).toMatchObject([
      [
        { kind: "Node" },
        "node-1",
        undefined,
        { type: "merge", body: { metadata: { labels: { "kubevirt.io/schedulable": "false" } } } },
      ],
    ]);
    expect(events).toEqual(["Warning NodeUnresponsive"]);
  });

  it("is looked at again when it would have been silent for too long", async () => {
    expect(await look(node(60))).toEqual({ result: { requeueAfterMs: 240_000 }, patches: [], events: [] });
  });

  it.each([
    ["that takes no guests anyway", node(3600, "false")],
    ["that was labelled by hand", node(undefined)],
    ["that is gone", undefined],
  ])("%s is left alone", async (_which, which) => {
    expect(await look(which)).toEqual({ result: {}, patches: [], events: [] });
  });
});
