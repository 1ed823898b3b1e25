import { chooseStack, stacks } from "../stacks.ts";
import { runChaos, type ChaosOptions, type ChaosReport } from "./chaos-run.ts";
import { machineTraces } from "./leaks.ts";

/** Half of the time on each stack, and then nothing of it may be left on the machine. */
export async function runChaosOnBothStacks(options: ChaosOptions): Promise<ChaosReport[]> {
  const { cluster, durationMs, say } = options;
  const before = new Set(await machineTraces(cluster.dataDir, ""));
  await cluster.up();
  const address = "jsonpath={.items[0].status.podIP}";
  const { stdout: podAddress } = await cluster.kubectl("get", "pods", "-n", "kubevirt", "-o", address);
  const built = await cluster.polyvirt("image", "build-demo");
  if (built.code !== 0) throw new Error(`build the demo guest: ${built.stderr}`);
  const reports: ChaosReport[] = [];
  for (const stack of stacks) {
    say(`the guests use stack-${stack}`);
    await chooseStack(cluster, stack);
    reports.push(await runChaos({ ...options, durationMs: durationMs / stacks.length }));
  }
  const down = await cluster.polyvirt("down");
  if (down.code !== 0) throw new Error(`polyvirt down: ${down.stderr}`);
  const left = [
    ...(await cluster.processes()).map((info) => `process ${info.pid} ${info.commandLine}`),
    ...(await machineTraces(cluster.dataDir, podAddress)).filter((trace) => !before.has(trace)),
  ];
  // Pods of the roles stay on disk over a `down`, to be found again by the next `up`.
  const leaked = left.filter((trace) => !trace.startsWith("pod folder"));
  if (leaked.length > 0) throw new Error(`left behind:\n${leaked.join("\n")}`);
  return reports;
}
