import type { TestCluster } from "../cluster.ts";
import { chooseStack, stacks } from "../stacks.ts";
import { Census } from "./census.ts";
import { runChaos, type ChaosOptions, type ChaosReport } from "./chaos-run.ts";
import { Deck } from "./deck.ts";
import { faults } from "./faults.ts";
import { clusterTraces, fileTrace, tracesOf } from "./leaks.ts";

/** Half of the time on each stack, and then nothing of it may be left on the machine. */
export async function runChaosOnBothStacks(options: Omit<ChaosOptions, "deck" | "census">): Promise<ChaosReport[]> {
  const { cluster, durationMs, random, say } = options;
  await cluster.up();
  const built = await cluster.polyvirt("image", "build-demo");
  if (built.code !== 0) throw new Error(`build the demo guest: ${built.stderr}`);
  const census = new Census(cluster);
  const deck = new Deck(faults, random);
  const reports: ChaosReport[] = [];
  for (const stack of stacks) {
    say(`the guests use stack-${stack}`);
    await chooseStack(cluster, stack);
    reports.push(await runChaos({ ...options, deck, census, durationMs: durationMs / stacks.length }));
  }
  await expectNothingAfterDown(cluster, census);
  return reports;
}

async function expectNothingAfterDown(cluster: TestCluster, census: Census): Promise<void> {
  const { gone, living } = await census.take();
  const down = await cluster.polyvirt("down");
  if (down.code !== 0) throw new Error(`polyvirt down: ${down.stderr}`);
  const { dataDir } = cluster;
  const left = [
    ...(await cluster.processes()).map((info) => `process ${info.pid} ${info.commandLine}`),
    ...(await clusterTraces(dataDir)),
    ...tracesOf({ dataDir, uids: gone }),
    // Pods that were there stay on disk, to be found again by the next `up`: their folders, and nothing else.
    ...tracesOf({ dataDir, uids: living }).filter((trace) => !trace.startsWith(fileTrace)),
  ];
  if (left.length > 0) throw new Error(`left behind:\n${left.join("\n")}`);
}
