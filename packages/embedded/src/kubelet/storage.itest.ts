import * as fs from "node:fs";
import { events, pods } from "@polyvirt/api/k8s";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NodeHarness, shell } from "../testing/node-harness.ts";

let node: NodeHarness;
beforeEach(() => {
  node = new NodeHarness();
  node.startNode();
});
afterEach(() => node.dispose());

const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };

describe.skipIf(process.getuid?.() !== 0)("a volume in memory", () => {
  it("is a file system of its own with the size of its limit, and is gone with its pod", async () => {
    const pod = await node.createPod("memory", {
      volumes: [{ name: "v", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }],
      containers: [
        shell(
          "stat -f -c %T /v; head -c 900000 /dev/zero > /v/fits && echo fits; head -c 900000 /dev/zero > /v/more || echo full; exec sleep 1000",
          mounted,
        ),
      ],
    });
    await vi.waitFor(
      () => expect(node.lines(pod).filter((line) => !line.startsWith("head"))).toEqual(["tmpfs", "fits", "full"]),
      10_000,
    );
    const place = node.volume(pod, "empty-dir", "v");
    expect(fs.readFileSync("/proc/self/mountinfo", "utf8")).toContain(place);
    await node.stop();
    node.startNode();
    await node.client.delete(pods, "memory", "default");
    await vi.waitUntil(() => !fs.existsSync(place), 10_000);
    expect(fs.readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(place);
  });
});

describe("a pod that takes more of the disk than it may", () => {
  it("is evicted with the volume and its limit as the reason", async () => {
    await node.createPod("greedy", {
      volumes: [{ name: "v", emptyDir: { sizeLimit: "1Mi" } }],
      containers: [shell("head -c 2000000 /dev/zero > /v/file; exec sleep 1000", mounted)],
    });
    const pod = await node.podInPhase("greedy", "Failed");
    expect(pod.status).toMatchObject({
      reason: "Evicted",
      message: 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
    });
    const told = (await node.client.list(events)).items.filter(({ reason }) => reason === "Evicted");
    expect(told).toHaveLength(1);
  });

  it("counts what its container writes beside its volumes", async () => {
    await node.createPod("layer", {
      containers: [
        shell("head -c 2000000 /dev/zero > /tmp/file; exec sleep 1000", {
          resources: { limits: { "ephemeral-storage": "1M" } },
        }),
      ],
    });
    const pod = await node.podInPhase("layer", "Failed");
    expect(pod.status?.message).toBe('Container main exceeded its local ephemeral storage limit "1M". ');
  });
});
