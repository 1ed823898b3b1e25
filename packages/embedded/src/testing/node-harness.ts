import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { pods, type Container, type Pod, type PodSpec } from "@polyvirt/api/k8s";
import { silentLogger, systemClock } from "@polyvirt/core";
import { composeNode, type ComposedNode } from "../kubelet/compose.ts";
import { sharedNetwork, type PodNetwork } from "../kubelet/network/pod-network.ts";
import { FakeKubeClient } from "./fake-kube-client.ts";

interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

/** A node with a kubelet and real processes, and an API server in memory; everything in one temporary directory. */
export class NodeHarness {
  readonly base = fs.mkdtempSync(path.join(os.tmpdir(), "node-"));
  readonly client = new FakeKubeClient();
  readonly #running: { stop: AbortController; done: Promise<unknown> }[] = [];

  readonly #place: { readonly network: PodNetwork; readonly apiServerPort: number };

  constructor(place = { network: sharedNetwork("127.101", "a test"), apiServerPort: 6443 }) {
    this.#place = place;
    this.addImage("test/shell:1", ["/bin/sh", "-c"]);
  }

  addImage(reference: string, command: string[]): void {
    const file = path.join(this.base, "images.json");
    const before = fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as { images: object }).images : {};
    fs.writeFileSync(`${file}.new`, JSON.stringify({ images: { ...before, [reference]: { command } } }));
    fs.renameSync(`${file}.new`, file);
  }

  start(component: Runnable): void {
    const stop = new AbortController();
    this.#running.push({ stop, done: component.run(stop.signal) });
  }

  /** The node's own folder. */
  get directory(): string {
    return path.join(this.base, "node");
  }

  startNode(): ComposedNode {
    const options = {
      name: "node-1",
      index: 1,
      nodesOnMachine: 1,
      directory: this.directory,
      network: this.#place.network,
      imageCatalogue: path.join(this.base, "images.json"),
      imageStore: path.join(this.base, "oci"),
      apiServer: { host: this.#place.network.apiServerHost, port: this.#place.apiServerPort },
      maskedDirectories: [this.base],
      visiblePaths: [],
      version: "v1.33.0",
    };
    const node = composeNode(options, { client: this.client, clock: systemClock, logger: silentLogger });
    this.start(node);
    return node;
  }

  /** Ends kubelet and controllers; containers go on. */
  async stop(): Promise<void> {
    for (const { stop, done } of this.#running.splice(0)) {
      stop.abort();
      await done;
    }
  }

  /** Removes every pod with its processes and files. */
  async dispose(): Promise<void> {
    if (this.#running.length === 0) this.startNode();
    for (const { metadata } of (await this.client.list(pods)).items) {
      await this.client.delete(pods, metadata.name ?? "", metadata.namespace, { gracePeriodSeconds: 0 });
    }
    const runtime = path.join(this.base, "node/runtime");
    while (fs.existsSync(runtime) && fs.readdirSync(runtime).length > 0) await systemClock.sleep(20);
    await this.stop();
    fs.rmSync(this.base, { recursive: true, force: true });
  }

  async createPod(name: string, spec: Partial<PodSpec> & { containers: Container[] }): Promise<Pod> {
    return this.client.create(pods, {
      metadata: { name, namespace: "default" },
      spec: { terminationGracePeriodSeconds: 1, nodeName: "node-1", ...spec },
    });
  }

  async pod(name: string): Promise<Pod> {
    return this.client.get(pods, name, "default");
  }

  /** Waits until the pod is as asked; the error after the limit shows its last status. */
  async podThat(name: string, test: (pod: Pod) => boolean, limitMs = 15_000): Promise<Pod> {
    const deadline = systemClock.monotonic() + limitMs;
    for (;;) {
      const pod = await this.pod(name);
      if (test(pod)) return pod;
      if (systemClock.monotonic() > deadline) throw new Error(`pod ${name} stays ${JSON.stringify(pod.status)}`);
      await systemClock.sleep(20);
    }
  }

  async podInPhase(name: string, phase: string): Promise<Pod> {
    return this.podThat(name, (pod) => pod.status?.phase === phase);
  }

  log(pod: Pod, container = "main", attempt = 0): string {
    const file = path.join(this.base, "node/logs", pod.metadata.uid ?? "", container, `${attempt}.log`);
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  }

  /** The lines of a log without times and streams. */
  lines(pod: Pod, container = "main"): string[] {
    return this.log(pod, container)
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split(" ").slice(3).join(" "));
  }

  volume(pod: Pod, plugin: string, name: string): string {
    return path.join(
      this.base,
      "node/kubelet/pods",
      pod.metadata.uid ?? "",
      "volumes",
      `kubernetes.io~${plugin}`,
      name,
    );
  }

  /** Process id of a container's first process. */
  initPid(pod: Pod, container = "main", attempt = 0): number {
    const uid = pod.metadata.uid ?? "";
    const file = path.join(this.base, "node/runtime", uid, "containers", container, String(attempt), "init");
    return Number(fs.readFileSync(file, "utf8").split(" ")[0]);
  }
}

export function shell(script: string, more: Partial<Container> = {}): Container {
  return { name: "main", image: "test/shell:1", args: [script], ...more };
}
