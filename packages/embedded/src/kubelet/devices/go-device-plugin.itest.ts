import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { nodes } from "@polyvirt/api/k8s";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NodeHarness, shell } from "../../testing/node-harness.ts";

const resource = "example.com/go-device";
const source = fileURLToPath(new URL("../../../testdata/go-device-plugin", import.meta.url));
const hasGo = spawnSync("go", ["version"]).status === 0;
/** The first build fetches Kubernetes' modules from the module proxy. */
const buildMs = 300_000;

describe.skipIf(!hasGo)("a device plug-in in Go with Kubernetes' own stubs", () => {
  let node: NodeHarness;
  let plugin: ChildProcess;
  let program: string;

  beforeAll(() => {
    node = new NodeHarness();
    program = path.join(node.base, "go-device-plugin");
    const built = spawnSync("go", ["build", "-o", program, "."], { cwd: source, encoding: "utf8" });
    if (built.status !== 0) throw new Error(built.stderr);
    node.startNode();
  }, buildMs);
  afterAll(async () => {
    plugin.kill();
    await node.dispose();
  });

  const directory = (): string => path.join(node.base, "node/kubelet/device-plugins");

  async function startPlugin(): Promise<void> {
    await vi.waitUntil(() => fs.existsSync(path.join(directory(), "kubelet.sock")), 5000);
    plugin = spawn(program, [directory(), resource, "one", "two"], { stdio: ["pipe", "pipe", "inherit"] });
    const said = await new Promise((resolve) =>
      plugin.stdout?.once("data", (data: Buffer) => resolve(data.toString())),
    );
    expect(said).toBe("registered\n");
  }

  async function expectReport(expected: string): Promise<void> {
    await vi.waitFor(async () => {
      const { status } = await node.client.get(nodes, "node-1");
      expect(`${status?.allocatable?.[resource]}/${status?.capacity?.[resource]}`).toBe(expected);
    }, 10_000);
  }

  const wanting = (count: number) => ({
    containers: [
      shell("echo $GO_DEVICES; ls /dev/go-device; exec sleep 1000", {
        resources: { limits: { [resource]: String(count) } },
      }),
    ],
  });

  it("registers, gives devices to pods, and tells which are unhealthy", async () => {
    await startPlugin();
    await expectReport("2/2");
    const first = await node.createPod("first", wanting(1));
    await node.podInPhase("first", "Running");
    await vi.waitFor(
      () => expect(node.lines(first)).toEqual([expect.stringMatching(/^(one|two)$/), "/dev/go-device"]),
      5000,
    );
    plugin.stdin?.write("one\n");
    await expectReport("1/2");
    plugin.stdin?.write("one two\n");
    await expectReport("2/2");
  });

  it("registers again after a restart, with its devices still given away", async () => {
    plugin.kill();
    await expectReport("0/2");
    await startPlugin();
    await expectReport("2/2");
    const second = await node.createPod("second", wanting(1));
    await node.podInPhase("second", "Running");
    const first = await node.pod("first");
    await vi.waitFor(
      () => expect(new Set([node.lines(first)[0], node.lines(second)[0]])).toEqual(new Set(["one", "two"])),
      5000,
    );
    await node.createPod("third", wanting(1));
    const third = await node.podInPhase("third", "Failed");
    expect(third.status?.reason).toBe("UnexpectedAdmissionError");
  });
});
