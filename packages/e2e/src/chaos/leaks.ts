import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.ts";

/** What a cluster can leave behind on its machine, other than processes. Each line names one thing. */
export async function machineTraces(dataDir: string): Promise<string[]> {
  return [...mounts(dataDir), ...sockets(dataDir), ...podFolders(dataDir), ...cgroups(), ...(await networkLinks())];
}

function mounts(dataDir: string): string[] {
  return lines("/proc/self/mountinfo")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((path) => path.startsWith(`${dataDir}/`))
    .map((path) => `mount ${path.slice(dataDir.length)}`);
}

function sockets(dataDir: string): string[] {
  return lines("/proc/net/unix")
    .map((line) => line.split(/\s+/)[7] ?? "")
    .filter((path) => path.startsWith(`${dataDir}/`))
    .map((path) => `socket ${path.slice(dataDir.length)}`);
}

/** Folders of pods, by node. A pod that is gone has none. */
function podFolders(dataDir: string): string[] {
  const nodes = join(dataDir, "nodes");
  if (!existsSync(nodes)) return [];
  return readdirSync(nodes).flatMap((node) => {
    const pods = join(nodes, node, "kubelet/pods");
    return existsSync(pods) ? readdirSync(pods).map((pod) => `pod folder ${node}/${pod}`) : [];
  });
}

function cgroups(): string[] {
  const found: string[] = [];
  const walk = (folder: string, depth: number): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const path = join(folder, entry.name);
      if (/polyvirt|kubepods/.test(entry.name)) found.push(`cgroup ${path}`);
      if (depth > 0) walk(path, depth - 1);
    }
  };
  try {
    walk("/sys/fs/cgroup", 4);
  } catch {
    // A group ended while we were looking: what remains is seen by the next look.
  }
  return found;
}

async function networkLinks(): Promise<string[]> {
  const { stdout } = await run("ip", ["-o", "link", "show"]);
  return stdout
    .split("\n")
    .map((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] ?? "")
    .filter((name) => name !== "")
    .map((name) => `network link ${name}`);
}

function lines(path: string): string[] {
  return readFileSync(path, "utf8").split("\n");
}
