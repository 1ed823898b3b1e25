import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { isCluster } from "./who.ts";

describe("the number of nodes", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up("--nodes", "2");
  });
  afterAll(() => cluster.destroy());

  const nodes = async () => (await cluster.kubectl("get", "nodes", "-o", "name")).stdout;

  it("stays as it is while the cluster runs", async () => {
    const { code, stderr } = await cluster.polyvirt("up", "--nodes", "1");
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/change --nodes of the running cluster .* from 2 to 1: run "polyvirt down" first/);
    expect(await nodes()).toBe("node/node-1\nnode/node-2\n");
  });

  it("can shrink, even when the cluster was killed: the node goes with its pods and its folder", async () => {
    process.kill((await cluster.process(isCluster)).pid, "SIGKILL");
    await cluster.up("--nodes", "1");
    expect(await nodes()).toBe("node/node-1\n");
    expect(existsSync(join(cluster.dataDir, "nodes/node-2"))).toBe(false);
    const places = "jsonpath={.items[*].spec.nodeName}";
    await eventually(
      async () => new Set((await cluster.kubectl("get", "pods", "-A", "-o", places)).stdout.split(" ")),
      (seen) => seen.size === 1 && seen.has("node-1"),
    );
  });
});
