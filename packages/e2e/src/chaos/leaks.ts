import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.ts";

/**
 * What a cluster can leave behind on its machine, other than processes. Each line names one thing. The address of a pod
 * tells its network links from those of other clusters.
 */
export async function machineTraces(dataDir: string, podAddress: string): Promise<string[]> {
  return [
    ...mounts(dataDir),
    ...sockets(dataDir),
    ...podFolders(dataDir),
    ...cgroups(),
    ...(await networkLinks(podAddress)),
  ];
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

/** Bridges are named after their network (pvbr-10-97), links to pods after the pod's address (pv0a610401). */
async function networkLinks(podAddress: string): Promise<string[]> {
  const [first = 0, second = 0] = podAddress.split(".").map(Number);
  const hex = [first, second].map((octet) => octet.toString(16).padStart(2, "0")).join("");
  const { stdout } = await run("ip", ["-o", "link", "show"]);
  return stdout
    .split("\n")
    .map((line) => /^\d+: ([^:@]+)/.exec(line)?.[1] ?? "")
    .filter((name) => name === `pvbr-${first}-${second}` || name.startsWith(`pv${hex}`))
    .map((name) => `network link ${name}`);
}

function lines(path: string): string[] {
  return readFileSync(path, "utf8").split("\n");
}
