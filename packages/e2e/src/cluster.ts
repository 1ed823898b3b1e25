import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { clusterProcesses, type ProcessInfo } from "./processes.ts";
import { run, type RunResult } from "./run.ts";

export const repositoryRoot = resolve(fileURLToPath(import.meta.url), "../../../..");

/** A cluster of its own for one test file, driven only through `./polyvirt` and `kubectl`. */
export class TestCluster {
  readonly dataDir: string;

  private constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  static async create(): Promise<TestCluster> {
    return new TestCluster(await mkdtemp(join(tmpdir(), "polyvirt-e2e-")));
  }

  /** Starts it, or starts it again. Fails with everything that was printed. */
  async up(...args: string[]): Promise<RunResult> {
    const port = existsSync(join(this.dataDir, "cluster.json")) ? [] : ["--port", "0"];
    const result = await this.polyvirt("up", ...port, ...args);
    if (result.code !== 0)
      throw new Error(`polyvirt up failed:\n${result.stdout}\n${result.stderr}\n${await this.log()}`);
    return result;
  }

  polyvirt(command: string, ...args: string[]): Promise<RunResult> {
    return run(join(repositoryRoot, "polyvirt"), [command, "--data-dir", this.dataDir, ...args], {
      timeoutMs: 170_000,
    });
  }

  kubectl(...args: string[]): Promise<RunResult> {
    return run("kubectl", args, { env: { KUBECONFIG: join(this.dataDir, "kubeconfig") } });
  }

  apply(manifest: string): Promise<RunResult> {
    const env = { KUBECONFIG: join(this.dataDir, "kubeconfig") };
    return run("kubectl", ["apply", "-f", "-"], { env, input: manifest });
  }

  async json<T>(...args: string[]): Promise<T> {
    const result = await this.kubectl(...args, "-o", "json");
    if (result.code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${result.stderr}`);
    // The shape is what the test expects of the API; a wrong one fails in the test's assertions.
    return JSON.parse(result.stdout) as T;
  }

  async apiPort(): Promise<number> {
    const config = await readFile(join(this.dataDir, "kubeconfig"), "utf8");
    return Number(/127\.0\.0\.1:(\d+)/.exec(config)?.[1]);
  }

  async processes(): Promise<ProcessInfo[]> {
    return clusterProcesses(this.dataDir, await this.apiPort());
  }

  /** The one process whose command line matches. */
  async process(pattern: RegExp): Promise<ProcessInfo> {
    const found = (await this.processes()).filter((info) => pattern.test(info.commandLine));
    const [only] = found;
    if (only === undefined || found.length !== 1) {
      const lines = (await this.processes()).map((info) => `${info.pid} ${info.commandLine.slice(0, 150)}`);
      throw new Error(`${found.length} processes match ${pattern} among:\n${lines.join("\n")}`);
    }
    return only;
  }

  async log(): Promise<string> {
    const text = await readFile(join(this.dataDir, "cluster.log"), "utf8").catch(() => "");
    return text.split("\n").slice(-40).join("\n");
  }

  /** Ends everything, also after a test that failed half-way. */
  async destroy(): Promise<void> {
    await this.polyvirt("down", "--timeout", "60");
    if (existsSync(join(this.dataDir, "kubeconfig"))) {
      for (const info of await this.processes()) {
        try {
          process.kill(info.pid, "SIGKILL");
        } catch {
          // It ended by itself.
        }
      }
    }
    // A cluster process that a test has killed could not remove its pods' network.
    await this.polyvirt("reset", "--yes");
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** Repeats a look until it shows what is wanted; the last thing seen is in the failure. */
export async function eventually<T>(
  look: () => Promise<T>,
  wanted: (seen: T) => boolean,
  limitMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (wanted(seen)) return seen;
    if (Date.now() > deadline)
      throw new Error(`not within ${limitMs} ms; last seen: ${JSON.stringify(seen, undefined, 1)}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}
