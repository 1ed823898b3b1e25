import * as fs from "node:fs";
import { events, pods } from "@polyvirt/api/k8s";
import { unmountBelow } from "@polyvirt/host";
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

describe.skipIf(process.getuid?.() !== 0)("mounts that appear while a container runs", () => {
  const volume = { name: "v", hostPath: { path: "/var/lib/kubelet/handed-on", type: "DirectoryOrCreate" as const } };
  const mount = (mountPropagation: "HostToContainer" | "Bidirectional") => ({
    volumeMounts: [{ name: "v", mountPath: "/v", mountPropagation }],
  });

  it("go both ways with Bidirectional, into the container with HostToContainer, and are gone at the end", async () => {
    const waits = "while ! test -e /v/disk/file; do sleep 0.1; done; cat /v/disk/file; exec sleep 1000";
    const other = await node.createPod("other", {
      volumes: [volume],
      containers: [shell(waits, mount("HostToContainer"))],
    });
    await node.podInPhase("other", "Running");
    await node.createPod("agent", {
      volumes: [volume],
      containers: [
        shell("mkdir -p /v/disk; mount -t tmpfs tmpfs /v/disk; echo mounted > /v/disk/file; exec sleep 1000", {
          ...mount("Bidirectional"),
          securityContext: { privileged: true },
        }),
      ],
    });
    const here = `${node.base}/node/kubelet/handed-on/disk/file`;
    await vi.waitUntil(() => fs.existsSync(here) && fs.readFileSync(here, "utf8") === "mounted\n", 10_000);
    await vi.waitFor(() => expect(node.lines(other)).toEqual(["mounted"]), 10_000);
    // Nothing else of the container got out.
    expect(fs.readFileSync("/proc/self/mountinfo", "utf8")).not.toContain("/containers/main/");
    unmountBelow(`${node.base}/node`);
  });

  it("are for privileged containers", async () => {
    await node.createPod("plain", { volumes: [volume], containers: [shell("true", mount("Bidirectional"))] });
    const pod = await node.podThat(
      "plain",
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerError",
    );
    expect(pod.status?.containerStatuses?.[0]?.state?.waiting?.message).toContain("is for privileged containers");
  });
});
