import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@polyvirt/core";
import { virtualMachineInstances, type VirtualMachineInstance } from "@polyvirt/api";
import { hasCode } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { parse } from "yaml";
import type { CommandContext } from "./command.ts";
import { openConsole } from "./console-session.ts";
import type { DataDir } from "./data-dir.ts";
import { addDemoImages } from "./demo-guest/demo-images.ts";
import { errors } from "./errors.ts";
import type { Progress } from "./progress.ts";

interface DemoDependencies {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly dataDir: DataDir;
  readonly progress: Progress;
  readonly context: CommandContext;
}

const namespace = "default";
const lastWords = "Polyvirt guest is ready.";
const bootLimitMs = 180_000;

/** Builds the demo guest, starts examples/hello.yaml and prints what the guest says on its console. */
export async function runDemo({ client, clock, dataDir, progress, context }: DemoDependencies): Promise<void> {
  await progress.step("build the demo guest", (note) => addDemoImages(dataDir, note));
  const text = await readFile(join(context.bundleDir, "../examples/hello.yaml"), "utf8");
  // Our own example file; the API server validates it like any other.
  const wanted = parse(text) as VirtualMachineInstance;
  const name = wanted.metadata.name ?? "hello";
  const found = await progress.step(`start the guest ${name}`, async (note) => {
    const existing = await removeFinished(client, clock, name);
    if (existing === undefined) {
      await client.create(virtualMachineInstances, { ...wanted, metadata: { ...wanted.metadata, namespace } });
    }
    await waitForRunning(client, clock, name, note);
    return existing !== undefined;
  });
  const words = await progress.step("listen to its console", () => listen(client, clock, name, found));
  context.stdout.write(`\n${words}\n`);
}

/** A guest of an earlier demo that has ended makes room for a new one; a living one is returned. */
async function removeFinished(
  client: KubeClient,
  clock: Clock,
  name: string,
): Promise<VirtualMachineInstance | undefined> {
  for (let deleted = false; ; await clock.sleep(100)) {
    const vmi = await find(client, name);
    if (vmi === undefined) return undefined;
    const ended = vmi.status?.phase === "Succeeded" || vmi.status?.phase === "Failed";
    if (!ended && vmi.metadata.deletionTimestamp === undefined) return vmi;
    if (!deleted) await client.delete(virtualMachineInstances, name, namespace);
    deleted = true;
  }
}

async function waitForRunning(
  client: KubeClient,
  clock: Clock,
  name: string,
  note: (text: string) => void,
): Promise<void> {
  const deadline = clock.monotonic() + bootLimitMs;
  for (;;) {
    const vmi = await find(client, name);
    const phase = vmi?.status?.phase ?? "Pending";
    const problem = vmi?.status?.conditions?.find((condition) => condition.status === "False" && condition.message);
    if (phase === "Running") return;
    note(phase);
    if (phase === "Failed" || phase === "Succeeded" || clock.monotonic() > deadline) {
      throw errors.CliGuestFailed(`start ${name}: it is ${phase}${problem ? ` (${problem.message})` : ""}`);
    }
    await clock.sleep(100);
  }
}

/** Collects what the guest prints until its last words. One that has booted before is asked to repeat them. */
async function listen(client: KubeClient, clock: Clock, name: string, bootedBefore: boolean): Promise<string> {
  const session = await openConsole(client, namespace, name);
  const ask = () => session.write("\ncat /run/greeting\n");
  if (bootedBefore) ask();
  let text = "";
  const limit = clock.setTimer(bootLimitMs, () =>
    session.destroy(new Error(`no greeting within ${bootLimitMs / 1000} s`)),
  );
  try {
    for await (const chunk of session) {
      text += String(chunk);
      const end = text.indexOf(lastWords);
      if (end < 0) continue;
      const start = text.lastIndexOf("Hello from", end);
      return text.slice(Math.max(start, 0), end + lastWords.length).replaceAll("\r", "");
    }
    throw errors.CliGuestFailed(`listen to ${name}: its console closed before it said hello`);
  } catch (cause) {
    throw hasCode(cause, "CliGuestFailed") ? cause : errors.CliGuestFailed(`listen to ${name}`, { cause });
  } finally {
    limit.cancel();
    session.destroy();
  }
}

async function find(client: KubeClient, name: string): Promise<VirtualMachineInstance | undefined> {
  try {
    return await client.get(virtualMachineInstances, name, namespace);
  } catch (error) {
    if (hasCode(error, "KubeNotFound")) return undefined;
    throw error;
  }
}
