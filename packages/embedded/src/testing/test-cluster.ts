import { execFile, spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@polyvirt/core";
import { adoptContainer } from "@polyvirt/host";

/** A cluster in a process of its own, driven with kubectl. */
export class TestCluster {
  readonly data = fs.mkdtempSync(path.join(os.tmpdir(), "cluster-"));
  readonly #nodes: number;
  readonly #podNetwork: string;
  #process: ChildProcess | undefined;

  constructor(nodes: number) {
    this.#nodes = nodes;
    this.#podNetwork = freeNetwork();
    const images = { "test/shell:1": { command: ["/bin/sh", "-c"] }, "test/shell:2": { command: ["/bin/sh", "-c"] } };
    fs.writeFileSync(path.join(this.data, "images.json"), JSON.stringify({ images }));
  }

  async start(): Promise<void> {
    const script = fileURLToPath(new URL("cluster-process.ts", import.meta.url));
    const log = fs.openSync(path.join(this.data, "cluster.log"), "a");
    const args = ["--import", "tsx", script, this.data, String(this.#nodes), this.#podNetwork];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", log] });
    fs.closeSync(log);
    this.#process = child;
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`the cluster ended with ${code}:\n${this.log()}`)));
    });
  }

  /** As `kill -9`: nothing is told, nothing is tidied up. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  async kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.tryKubectl(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}\n${this.log()}`);
    return stdout;
  }

  tryKubectl(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((resolve) => {
      const child = execFile("kubectl", args, { env: this.environment() }, (_error, stdout, stderr) => {
        resolve({ code: child.exitCode ?? 1, stdout, stderr });
      });
    });
  }

  /** kubectl that goes on: `logs -f`, `port-forward`. */
  startKubectl(...args: string[]): ChildProcess {
    return spawn("kubectl", args, { env: this.environment(), stdio: ["pipe", "pipe", "pipe"] });
  }

  environment(): NodeJS.ProcessEnv {
    return { ...process.env, KUBECONFIG: path.join(this.data, "kubeconfig"), HOME: this.data };
  }

  async apply(...objects: object[]): Promise<void> {
    const file = path.join(this.data, "apply.json");
    fs.writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    await this.kubectl("apply", "-f", file);
  }

  async waitFor(what: string, test: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
    const deadline = systemClock.monotonic() + limitMs;
    while (!(await test().catch(() => false))) {
      if (systemClock.monotonic() > deadline) throw new Error(`${what} did not happen:\n${this.log()}`);
      await systemClock.sleep(100);
    }
  }

  log(): string {
    return fs.readFileSync(path.join(this.data, "cluster.log"), "utf8").split("\n").slice(-20).join("\n");
  }

  /** What a cluster that could not be started again has left running. */
  #endLeftOvers(): void {
    const files = fs.readdirSync(this.data, { recursive: true, encoding: "utf8" });
    for (const name of files.filter((file) => file.endsWith("/boot-id"))) {
      adoptContainer(path.join(this.data, path.dirname(name)), systemClock).kill();
    }
  }

  /** Ends all pods, then the cluster, and removes everything. */
  async dispose(): Promise<void> {
    await this.#end("SIGTERM");
    this.#endLeftOvers();
    fs.rmSync(this.data, { recursive: true, force: true });
  }
}

/** A /16 of loopback addresses on which nothing listens; others may run the same test at the same time. */
function freeNetwork(): string {
  const table = fs.readFileSync("/proc/net/tcp", "utf8");
  const taken = new Set(
    [...table.matchAll(/: [0-9A-F]{4}([0-9A-F]{2})7F:/g)].map(([, octet = ""]) => Number.parseInt(octet, 16)),
  );
  const free = Array.from({ length: 64 }, (_, index) => 128 + index).filter((octet) => !taken.has(octet));
  return `127.${free[Math.floor(Math.random() * free.length)] ?? 128}`;
}
