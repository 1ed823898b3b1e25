import * as fs from "node:fs";
import * as path from "node:path";
import { pods, type Pod } from "@polyvirt/api/k8s";
import { systemClock } from "@polyvirt/core";
import { isolationGaps } from "@polyvirt/host";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NodeHarness, shell } from "../testing/node-harness.ts";
import type { ComposedNode } from "./compose.ts";
import { haltNode } from "./halt-node.ts";
import { nodePaths } from "./node-paths.ts";
import { openPodGroups } from "./pod-groups.ts";

/** Every control group of the machine whose path has the word. */
function groupsOf(word: string, folder = "/sys/fs/cgroup"): string[] {
  let entries: fs.Dirent[];
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    // Groups come and go.
    return [];
  }
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(folder, name))
    .flatMap((group) => [...(group.includes(word) ? [group] : []), ...groupsOf(word, group)]);
}

const membersOf = (groups: readonly string[]): string[] =>
  groups.flatMap((group) =>
    fs
      .readFileSync(path.join(group, "cgroup.procs"), "utf8")
      .split("\n")
      .filter((line) => line !== ""),
  );

const uidOf = (pod: Pod): string => pod.metadata.uid ?? "";

/** Ignores the polite request, and has a child that would outlive it. */
const stubborn = shell("trap : TERM; sleep 1000 & while :; do sleep 1; done");

describe.skipIf(isolationGaps().length > 0)("control groups of pods", () => {
  let node: NodeHarness;
  let kubelet: ComposedNode;
  beforeEach(() => {
    node = new NodeHarness();
    kubelet = node.startNode();
  });
  afterEach(() => node.dispose());

  const openGroups = (harness: NodeHarness) => openPodGroups(nodePaths(harness.directory), "node-1", systemClock);

  async function runningPod(name: string, spec: object = {}): Promise<Pod> {
    await node.createPod(name, { containers: [stubborn], ...spec });
    const pod = await node.podInPhase(name, "Running");
    expect(groupsOf(uidOf(pod))).not.toEqual([]);
    return pod;
  }

  it.each([
    ["a pod", {}],
    ["a pod whose containers share their processes", { shareProcessNamespace: true }],
  ])("go with %s, before its folder does", async (_what, spec) => {
    const uid = uidOf(await runningPod("leaving", spec));
    await node.client.delete(pods, "leaving", "default", { gracePeriodSeconds: 0 });
    const runtime = path.join(node.directory, "runtime", uid);
    await vi.waitUntil(() => !fs.existsSync(runtime), { timeout: 15_000, interval: 5 });
    expect(groupsOf(uid)).toEqual([]);
  });

  it("are all gone when the node has been shut down", async () => {
    await runningPod("one", { terminationGracePeriodSeconds: 0 });
    await runningPod("two", { terminationGracePeriodSeconds: 1000 });
    const hurry = new AbortController();
    const done = kubelet.shutDown(hurry.signal);
    hurry.abort();
    await done;
    expect(groupsOf(openGroups(node).name)).toEqual([]);
  });

  it("of a pod that a killed kubelet had almost removed are removed by the next one, with what runs in them", async () => {
    const uid = uidOf(await runningPod("stray"));
    await node.stop();
    await node.client.delete(pods, "stray", "default", { gracePeriodSeconds: 0 });
    fs.rmSync(path.join(node.directory, "runtime", uid), { recursive: true });
    expect(membersOf(groupsOf(uid))).not.toEqual([]);
    node.startNode();
    await vi.waitUntil(() => groupsOf(uid).length === 0, 15_000);
  });

  it("of another cluster's node of the same name are left alone", async () => {
    const uid = uidOf(await runningPod("mine"));
    const other = new NodeHarness();
    other.startNode();
    await other.createPod("theirs", { containers: [stubborn] });
    await other.podInPhase("theirs", "Running");
    const name = openGroups(other).name;
    await other.dispose();
    expect(groupsOf(name)).toEqual([]);
    expect(membersOf(groupsOf(uid))).not.toEqual([]);
  });

  it("and all processes go when a node without kubelet is halted; its pods are known to the next one", async () => {
    await node.createPod("polite", { containers: [shell("trap 'exit 0' TERM; while :; do sleep 0.1; done")] });
    const polite = await node.podInPhase("polite", "Running");
    const uid = uidOf(await runningPod("abandoned"));
    await node.stop();
    const members = membersOf(groupsOf(uid));
    expect(await haltNode("node-1", node.directory, { clock: systemClock, graceMs: 1_000 })).toBe(2);
    expect(groupsOf(openGroups(node).name)).toEqual([]);
    expect(members.filter((pid) => fs.existsSync(`/proc/${pid}/exe`))).toEqual([]);
    const exit = path.join(node.directory, "runtime", uidOf(polite), "containers/main/0/exit");
    expect(fs.readFileSync(exit, "utf8")).toBe("0\n");
    node.startNode();
    const again = await node.podThat("abandoned", ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
    expect(uidOf(again)).toBe(uid);
  });
});
