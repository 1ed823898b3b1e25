import { eventually, type TestCluster } from "../cluster.ts";
import { typeInConsole } from "../console.ts";
import { guestManifest, type Vmi } from "../guest.ts";
import { isQemu, qemuOf } from "../who.ts";
import type { Census } from "./census.ts";
import type { Deck } from "./deck.ts";
import type { Fault } from "./faults.ts";
import { tracesOf } from "./leaks.ts";
import type { Random } from "./random.ts";

export interface ChaosOptions {
  readonly cluster: TestCluster;
  readonly random: Random;
  /** What kills come next. */
  readonly deck: Deck;
  readonly census: Census;
  readonly durationMs: number;
  /** Goes on after its time until so many kinds of kills came. */
  readonly leastKinds: number;
  readonly say: (line: string) => void;
}

export interface ChaosReport {
  readonly hits: Readonly<Record<string, number>>;
  readonly started: number;
  readonly ended: number;
}

/** A guest as the run knows it: what became of it must follow from what was done to it. */
interface Guest {
  readonly name: string;
  readonly qemuPid: number;
}

/** What a guest says of itself. */
interface Heartbeat {
  /** Another one after every boot. */
  readonly bootId: string;
  readonly uptime: number;
  readonly at: number;
}

/** Never hit: what they say themselves at the end proves that they ran through everything. */
const bystanders = ["bystander-1", "bystander-2"] as const;
const targetCount = 3;
const cleanupMs = 20_000;

/**
 * Kills one random process after another while guests come and go, and holds the cluster to its word after each: the guest
 * that was hit ends Failed with a reason, every other one keeps its very process. Ends with the bystanders' own uptime.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { cluster, random, deck, census, say } = options;
  const hits: Record<string, number> = {};
  let started = 0;
  let ended = 0;
  const start = async (name: string): Promise<Guest> => {
    await create(cluster, name);
    started += 1;
    return await whenRunning(cluster, name);
  };

  const targets = Array.from({ length: targetCount }, (_, index) => `target-${index + 1}`);
  const first = await Promise.all([...bystanders, ...targets].map(start));
  const guests = new Map(first.map((guest) => [guest.name, guest]));
  const before = await Promise.all(bystanders.map((name) => heartbeat(cluster, name)));

  const deadline = Date.now() + options.durationMs;
  const goesOn = (): boolean => Date.now() < deadline || Object.keys(hits).length < options.leastKinds;
  for (let serial = targetCount + 1; goesOn(); serial += 1) {
    const target = random.pick(targets);
    const processes = await cluster.processes();
    const fault = deck.draw((candidate) => candidate.victims(processes, target).length > 0);
    if (!(await strike(fault, { cluster, random, target }))) continue;
    hits[fault.name] = (hits[fault.name] ?? 0) + 1;
    say(`kill -9 of ${fault.name}${fault.endsGuest ? ` of ${target}` : ""}`);
    // Load: a new guest begins its life while the cluster mends itself.
    const name = `target-${serial}`;
    const beginning = fault.repair === undefined ? create(cluster, name) : undefined;
    await fault.repair?.(cluster);
    await (beginning ?? create(cluster, name));
    started += 1;
    const leaving = fault.endsGuest ? target : random.pick(targets);
    if (fault.endsGuest) await expectFailedWithReason(cluster, target);
    guests.set(name, await whenRunning(cluster, name));
    await expectUntouched(cluster, guests, leaving);
    await remove(cluster, leaving);
    ended += 1;
    guests.delete(leaving);
    targets.splice(targets.indexOf(leaving), 1, name);
    await expectNoTraces(cluster, census);
  }

  for (const [index, name] of bystanders.entries()) await expectSameLife(cluster, name, before[index]);
  await Promise.all([...guests.keys()].map((name) => remove(cluster, name)));
  await eventually(
    async () => (await cluster.processes()).filter((info) => isQemu.test(info.commandLine)).map((info) => info.pid),
    (left) => left.length === 0,
  );
  await expectNoTraces(cluster, census);
  return { hits, started, ended: ended + guests.size };
}

/** Admission may be the very thing that was hit: a user tries again. */
async function create(cluster: TestCluster, name: string): Promise<void> {
  await eventually(
    () => cluster.apply(guestManifest(name)),
    ({ code }) => code === 0,
  );
}

/** Kills a process of the kind; false when there is none now (no libvirt guest, say). */
async function strike(
  fault: Fault,
  { cluster, random, target }: { cluster: TestCluster; random: Random; target: string },
): Promise<boolean> {
  const victims = fault.victims(await cluster.processes(), target);
  if (victims.length === 0) return false;
  try {
    process.kill(random.pick(victims).pid, "SIGKILL");
    return true;
  } catch {
    // It ended by itself between the look and the kill.
    return false;
  }
}

const vmi = (cluster: TestCluster, name: string): Promise<Vmi> => cluster.json<Vmi>("get", "vmi", name);

async function whenRunning(cluster: TestCluster, name: string): Promise<Guest> {
  await eventually(
    () => vmi(cluster, name),
    (seen) => seen.status?.phase === "Running",
    120_000,
  );
  return { name, qemuPid: (await cluster.process(qemuOf(name))).pid };
}

async function expectFailedWithReason(cluster: TestCluster, name: string): Promise<void> {
  await eventually(
    () => vmi(cluster, name),
    (seen) => seen.status?.phase === "Failed",
    120_000,
  );
  const selector = `involvedObject.name=${name},type=Warning`;
  await eventually(
    () => cluster.kubectl("get", "events", "--field-selector", selector, "--no-headers"),
    (events) => events.stdout.trim() !== "",
  );
}

/** Every guest but the one that was hit still runs in the process that it started with. */
async function expectUntouched(
  cluster: TestCluster,
  guests: ReadonlyMap<string, Guest>,
  except: string,
): Promise<void> {
  for (const guest of guests.values()) {
    if (guest.name === except) continue;
    const { pid } = await cluster.process(qemuOf(guest.name));
    if (pid !== guest.qemuPid) throw new Error(`${guest.name} runs in process ${pid}, not in ${guest.qemuPid}`);
    const seen = await vmi(cluster, guest.name);
    if (seen.status?.phase !== "Running")
      throw new Error(`${guest.name} is ${seen.status?.phase}: ${JSON.stringify(seen.status)}`);
  }
}

async function heartbeat(cluster: TestCluster, name: string): Promise<Heartbeat> {
  const answer = /boot ([0-9a-f-]{36}) up (\d+)\.\d+ \d/;
  const text = await typeInConsole(cluster, name, {
    input: "echo boot $(cat /proc/sys/kernel/random/boot_id) up $(cat /proc/uptime)\n",
    until: answer,
  });
  const [, bootId = "", uptime] = answer.exec(text) ?? [];
  return { bootId, uptime: Number(uptime), at: Date.now() };
}

/** The guest has not booted again, and its own clock went on: an emulated one may lag behind a busy machine's. */
async function expectSameLife(cluster: TestCluster, name: string, before: Heartbeat | undefined): Promise<void> {
  if (before === undefined) throw new Error(`${name} was never heard`);
  const now = await heartbeat(cluster, name);
  if (now.bootId !== before.bootId) throw new Error(`${name} has booted again`);
  const elapsed = (now.at - before.at) / 1000;
  const lived = now.uptime - before.uptime;
  if (!(lived > 0.8 * elapsed - 5))
    throw new Error(`${name} says that ${lived} s have passed, but ${elapsed.toFixed(0)} s have`);
}

/** Whoever is gone has left nothing on the machine, after a moment for the last of it. */
async function expectNoTraces(cluster: TestCluster, census: Census): Promise<void> {
  const { gone } = await census.take();
  await eventually(
    () => Promise.resolve(tracesOf({ dataDir: cluster.dataDir, uids: gone })),
    (left) => left.length === 0,
    cleanupMs,
  );
}

async function remove(cluster: TestCluster, name: string): Promise<void> {
  const deleted = await cluster.kubectl("delete", "vmi", name, "--timeout=90s");
  if (deleted.code !== 0) throw new Error(`delete ${name}: ${deleted.stderr}`);
}
