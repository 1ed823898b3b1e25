import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { silentLogger, systemClock } from "@polyvirt/core";
import { createKubeClient, kubeconfigConnection, type KubeClient } from "@polyvirt/kube";

export const repositoryRoot = resolve(fileURLToPath(import.meta.url), "../../../..");

/** A cluster of its own for one benchmark. */
export interface BenchCluster {
  readonly dataDir: string;
  readonly client: KubeClient;
  /** Of the process that is API server, scheduler, controllers and kubelet. */
  readonly pid: number;
  /** `./polyvirt` for this cluster; fails with what was printed. */
  readonly polyvirt: (command: string, ...args: string[]) => void;
}

export async function withCluster(use: (cluster: BenchCluster) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "polyvirt-bench-"));
  const polyvirt = (command: string, ...args: string[]): void => {
    const words = [command, "--data-dir", dataDir, ...args];
    const { status, stderr } = spawnSync(join(repositoryRoot, "polyvirt"), words, { encoding: "utf8" });
    if (status !== 0) throw new Error(`polyvirt ${words.join(" ")}: ${stderr}`);
  };
  try {
    polyvirt("up", "--port", "0");
    const connection = await kubeconfigConnection(join(dataDir, "kubeconfig"), { clock: systemClock });
    const client = createKubeClient({ connection, clock: systemClock, logger: silentLogger });
    try {
      const pid = (): number => Number(readFileSync(join(dataDir, "cluster.pid"), "utf8").match(/"pid": (\d+)/)?.[1]);
      await use({
        dataDir,
        client,
        polyvirt,
        // It may have been started again meanwhile.
        get pid() {
          return pid();
        },
      });
    } finally {
      client.close();
    }
  } finally {
    polyvirt("down");
    await rm(dataDir, { recursive: true, force: true });
  }
}
