import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bundleApiServer,
  findKubernetes,
  keepAliveAgent,
  openWatch,
  requestOnce,
  startBundle,
  startKubernetes,
  type Target,
} from "@polyvirt/e2e/targets";
import { percentile, type Benchmark, type Measurement } from "./benchmark.ts";

const path = "/api/v1/namespaces/default/configmaps";
const clients = 16;
const rounds = 5;
const perRound = 1000;

/** Numbers of one server. */
interface Figures {
  startMs: number;
  idleMiB: number;
  writesPerSecond: number;
  readsPerSecond: number;
  watchMs: number;
  listMs: number;
  loadedMiB: number;
}

/** Both servers run at the same time and are asked in turns, so that other load on the machine hits both alike. */
class Contender {
  readonly #target: Target;
  readonly #agent = keepAliveAgent(clients);
  readonly #samples = { writes: [] as number[], reads: [] as number[], watch: [] as number[], list: [] as number[] };
  readonly #startMs: number;
  readonly #idleMiB: number;

  constructor(target: Target, startMs: number) {
    this.#target = target;
    this.#startMs = startMs;
    this.#idleMiB = residentMiB(target);
  }

  async round(number: number): Promise<void> {
    const name = (index: number) => `o-${number}-${index}`;
    this.#samples.writes.push(await this.#rate((index) => this.#ask("POST", path, objectNamed(name(index)))));
    this.#samples.reads.push(await this.#rate((index) => this.#ask("GET", `${path}/${name(index)}`)));
    await this.#watch(number);
  }

  async list(): Promise<void> {
    const started = performance.now();
    await this.#ask("GET", `${path}?labelSelector=bench`);
    this.#samples.list.push(performance.now() - started);
  }

  figures(): Figures {
    const { writes, reads, watch, list } = this.#samples;
    return {
      startMs: this.#startMs,
      idleMiB: this.#idleMiB,
      writesPerSecond: percentile(writes, 0.5),
      readsPerSecond: percentile(reads, 0.5),
      watchMs: percentile(watch, 0.5),
      listMs: percentile(list, 0.5),
      loadedMiB: residentMiB(this.#target),
    };
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#target.stop();
  }

  async #ask(method: string, where: string, body?: object): Promise<void> {
    const { connection } = this.#target;
    const { status, text } = await requestOnce(connection, method, where, { body, agent: this.#agent });
    if (status >= 300) throw new Error(`${this.#target.name}: ${method} ${where}: ${status} ${text.slice(0, 300)}`);
  }

  /** How many requests are answered per second with all clients at work. */
  async #rate(request: (index: number) => Promise<void>): Promise<number> {
    let next = 0;
    const started = performance.now();
    const work = async () => {
      while (next < perRound) await request(next++);
    };
    await Promise.all(Array.from({ length: clients }, work));
    return perRound / ((performance.now() - started) / 1000);
  }

  /** From sending a write until a watcher has read it. */
  async #watch(number: number): Promise<void> {
    const { connection } = this.#target;
    const where = "/api/v1/namespaces/kube-public/configmaps";
    const { json } = await requestOnce(connection, "GET", `${where}?limit=1`);
    const stream = await openWatch(connection, `${where}?watch=true&resourceVersion=${json.metadata.resourceVersion}`);
    for (let index = 0; index < 40; index += 1) {
      const started = performance.now();
      const [, event] = await Promise.all([
        this.#ask("POST", where, objectNamed(`w-${number}-${index}`)),
        stream.next(),
      ]);
      if (event.type !== "ADDED") throw new Error(`${this.#target.name}: a watch told ${event.type}`);
      this.#samples.watch.push(performance.now() - started);
    }
    stream.close();
  }
}

const objectNamed = (name: string) => ({
  metadata: { name, labels: { bench: "true" } },
  data: { text: "some words ".repeat(50) },
});

function residentMiB({ pids }: Target): number {
  const kilobytes = pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]));
  return kilobytes.reduce((sum, value) => sum + value, 0) / 1024;
}

async function timed(start: () => Promise<Target>): Promise<Contender> {
  const started = performance.now();
  const target = await start();
  return new Contender(target, performance.now() - started);
}

/** Where the peer's programs are: `KUBERNETES_BIN`, or what `npm run test:conformance` has built. */
async function startPeer(): Promise<Contender | undefined> {
  const binaries = findKubernetes(process.env["KUBERNETES_BIN"]);
  // Both have acknowledged writes on disk.
  return binaries && timed(() => startKubernetes(binaries, { durable: true, housekeeping: false }));
}

export const benchmark: Benchmark = {
  name: "api-server",
  summary: `the embedded API server beside etcd + kube-apiserver; ${clients} clients, ${rounds * perRound} objects`,
  async run(report) {
    const bundle = await bundleApiServer();
    const directory = await mkdtemp(join(tmpdir(), "polyvirt-bench-"));
    const peer = await startPeer();
    if (peer === undefined) {
      process.stdout.write(
        "  no kube-apiserver to compare with: run `npm run test:conformance` once, which builds it\n",
      );
    }
    const ours = await timed(() => startBundle(bundle.file, directory));
    try {
      const contenders = peer === undefined ? [ours] : [ours, peer];
      for (let round = 0; round < rounds; round += 1) for (const contender of contenders) await contender.round(round);
      for (let round = 0; round < rounds; round += 1) for (const contender of contenders) await contender.list();
      for (const measurement of measurements(ours.figures(), peer?.figures())) report(measurement);
    } finally {
      await peer?.stop();
      await ours.stop();
      await bundle.remove();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

function measurements(ours: Figures, peer: Figures | undefined): Measurement[] {
  const own: Measurement[] = [
    { name: "start until requests are served", value: ours.startMs, unit: "ms", budget: { atMost: 3000 } },
    { name: "memory after the start", value: ours.idleMiB, unit: "MiB", budget: { atMost: 150 } },
    { name: "writes", value: ours.writesPerSecond, unit: "per second" },
    { name: "reads", value: ours.readsPerSecond, unit: "per second" },
    { name: "from a write to its watcher, median", value: ours.watchMs, unit: "ms" },
    { name: `list of ${rounds * perRound}, median`, value: ours.listMs, unit: "ms" },
    { name: "memory after all this", value: ours.loadedMiB, unit: "MiB" },
  ];
  if (peer === undefined) return own;
  const ratio = (name: string, value: number): Measurement => ({ name, value, unit: "ratio" });
  return [
    ...own,
    ratio("the peer's start over ours", peer.startMs / ours.startMs),
    ratio("the peer's memory after the start over ours", peer.idleMiB / ours.idleMiB),
    ratio("our writes per second over the peer's", ours.writesPerSecond / peer.writesPerSecond),
    ratio("our reads per second over the peer's", ours.readsPerSecond / peer.readsPerSecond),
    ratio("the peer's watch latency over ours", peer.watchMs / ours.watchMs),
    ratio("the peer's time to list over ours", peer.listMs / ours.listMs),
    ratio("the peer's memory after all this over ours", peer.loadedMiB / ours.loadedMiB),
  ];
}
