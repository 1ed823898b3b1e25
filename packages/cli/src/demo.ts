import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@polyvirt/core";
import { kubeVirts, virtualMachineInstances, type VirtualMachineInstance } from "@polyvirt/api";
import { hasCode } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { defaultNamespace } from "@polyvirt/virt-operator";
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
const gateLimitMs = 10_000;
const askAgainMs = 15_000;

/** The two guests: one of this machine's usual architecture, one that is emulated. */
const guests = [
  { file: "hello.yaml", architecture: "amd64" },
  { file: "hello-arm64.yaml", architecture: "arm64" },
] as const;
const emulationGate = "MultiArchitectureSoftwareEmulation";

/** Builds the demo guests, starts them side by side and prints what they say on their consoles. */
export async function runDemo(dependencies: DemoDependencies): Promise<void> {
  const { client, dataDir, progress, context } = dependencies;
  const architectures = guests.map(({ architecture }) => architecture);
  await progress.step("build the demo guests", (note) =>
    addDemoImages(dataDir, { architectures, agent: false, env: context.env }, note),
  );
  await progress.step("allow guests of other architectures", () => allowEmulation(client));
  const started = [];
  for (const { file } of guests) started.push(await startGuest(dependencies, file));
  // All at once: a console tells only what is said while somebody listens.
  const listening = started.map(({ name, found }) => listen(client, dependencies.clock, name, found));
  // A failure is told in its turn.
  for (const promise of listening) promise.catch(() => {});
  for (const [index, { name }] of started.entries()) {
    const words = await progress.step(`listen to the console of ${name}`, async () => listening[index]);
    context.stdout.write(`\n${words}\n\n`);
  }
}

/** Another architecture needs the administrator's word; who asks for the demo gives it. */
async function allowEmulation(client: KubeClient): Promise<void> {
  const kubevirt = await client.get(kubeVirts, "kubevirt", defaultNamespace);
  const gates = kubevirt.spec?.configuration?.developerConfiguration?.featureGates ?? [];
  if (gates.includes(emulationGate)) return;
  const developerConfiguration = { featureGates: [...gates, emulationGate] };
  const body = { spec: { configuration: { developerConfiguration } } };
  await client.patch(kubeVirts, "kubevirt", defaultNamespace, { type: "merge", body });
}

async function startGuest(
  { client, clock, progress, context }: DemoDependencies,
  file: string,
): Promise<{ name: string; found: boolean }> {
  const text = await readFile(join(context.bundleDir, "../examples", file), "utf8");
  // Our own example file; the API server validates it like any other.
  const wanted = parse(text) as VirtualMachineInstance;
  const name = wanted.metadata.name ?? file;
  const found = await progress.step(`start the guest ${name}`, async (note) => {
    const existing = await removeFinished(client, clock, name);
    if (existing === undefined) await createGuest(client, clock, wanted);
    await waitForRunning(client, clock, name, note);
    return existing !== undefined;
  });
  return { name, found };
}

/** virt-api hears of a feature gate a moment after it was set; until then it refuses the guest. */
async function createGuest(client: KubeClient, clock: Clock, wanted: VirtualMachineInstance): Promise<void> {
  const deadline = clock.monotonic() + gateLimitMs;
  for (;;) {
    try {
      await client.create(virtualMachineInstances, { ...wanted, metadata: { ...wanted.metadata, namespace } });
      return;
    } catch (error) {
      const mentionsGate = error instanceof Error && error.message.includes(emulationGate);
      if (!mentionsGate || clock.monotonic() > deadline) throw error;
      await clock.sleep(100);
    }
  }
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

/** Collects what the guest prints until its last words. One that may have said them already is asked to repeat them. */
async function listen(client: KubeClient, clock: Clock, name: string, bootedBefore: boolean): Promise<string> {
  const session = await openConsole(client, namespace, name);
  const ask = (): void => void session.write("\ncat /run/greeting\n");
  if (bootedBefore) ask();
  let asking = clock.setTimer(askAgainMs, function again() {
    ask();
    asking = clock.setTimer(askAgainMs, again);
  });
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
    asking.cancel();
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
