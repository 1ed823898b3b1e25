import { existsSync, lstatSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { listProcesses } from "../processes.ts";
import { run } from "../run.ts";

interface Gone {
  /** The cluster's folder. */
  readonly dataDir: string;
  /** Of guests and pods that are gone. Whatever bears one of them was theirs. */
  readonly uids: Iterable<string>;
}

/** How the lines begin that name files and folders. */
export const fileTrace = "file ";

/** What can be left of a guest or a pod on its machine, found by the UIDs that it bears. Each line names one thing. */
export function tracesOf({ dataDir, uids }: Gone): string[] {
  const wanted = [...uids].filter((uid) => uid !== "");
  const bears = (text: string): boolean => wanted.some((uid) => text.includes(uid));
  const processes = listProcesses().filter(
    ({ commandLine, environment, groups }) => bears(commandLine) || bears(environment) || bears(groups),
  );
  return [
    ...processes.map(({ pid, commandLine }) => `process ${pid} ${commandLine}`),
    ...controlGroups().flatMap((group) => (bears(group) ? [`control group ${group}`] : [])),
    ...mountPoints().flatMap((path) => (bears(path) ? [`mount ${path}`] : [])),
    ...boundSockets().flatMap((path) => (bears(path) ? [`socket ${path}`] : [])),
    ...filesBelow(dataDir).flatMap((path) => (bears(basename(path)) ? [`${fileTrace}${path}`] : [])),
    ...networkLinks().flatMap(({ name, owner }) => (bears(owner) ? [`network link ${name}`] : [])),
  ];
}

/** What a cluster that is down can have left on its machine, other than processes. */
export async function clusterTraces(dataDir: string): Promise<string[]> {
  const inside = (path: string): boolean => path.startsWith(`${dataDir}/`);
  const [first = "0", second = "0"] = networkOf(dataDir).split(".");
  const hex = [first, second].map((octet) => Number(octet).toString(16).padStart(2, "0")).join("");
  const isOurs = (name: string): boolean => name === `pvbr-${first}-${second}` || name.startsWith(`pv${hex}`);
  const tables = await run("nft", ["list", "tables"]);
  return [
    ...recordedGroups(dataDir).flatMap((group) => (existsSync(group) ? [`control group ${group}`] : [])),
    ...mountPoints().flatMap((path) => (inside(path) ? [`mount ${path}`] : [])),
    ...boundSockets().flatMap((path) => (inside(path) ? [`socket ${path}`] : [])),
    ...networkLinks().flatMap(({ name }) => (isOurs(name) ? [`network link ${name}`] : [])),
    ...entries("/run/netns").flatMap((name) => (isOurs(name) ? [`network namespace ${name}`] : [])),
    ...tables.stdout
      .split("\n")
      .flatMap((line) => (line.endsWith(` polyvirt_${first}_${second}`) ? [`firewall ${line}`] : [])),
  ];
}

/** First two octets of the addresses of the cluster's pods, which its links and rules are named after. */
function networkOf(dataDir: string): string {
  const text = readFileSync(join(dataDir, "cluster.json"), "utf8");
  // Ours; a wrong shape makes the octet NaN, and then nothing is ours.
  const { podNetwork } = JSON.parse(text) as { podNetwork: string };
  return `10.${podNetwork.split(".")[1]}`;
}

/** Each node keeps a list of the places of its pods' groups. */
function recordedGroups(dataDir: string): string[] {
  const nodes = join(dataDir, "nodes");
  return entries(nodes).flatMap((node) => {
    const groups = lines(join(nodes, node, "cgroups"));
    if (groups.length === 0) throw new Error(`${node} does not say where its control groups are`);
    return groups;
  });
}

function controlGroups(folder = "/sys/fs/cgroup"): string[] {
  return entries(folder).flatMap((name) => {
    const path = join(folder, name);
    return isFolder(path) ? [path, ...controlGroups(path)] : [];
  });
}

function mountPoints(): string[] {
  return lines("/proc/self/mountinfo").map((line) => line.split(" ")[4] ?? "");
}

function boundSockets(): string[] {
  return lines("/proc/net/unix").map((line) => line.split(/\s+/).slice(7).join(" "));
}

function filesBelow(folder: string): string[] {
  return entries(folder).flatMap((name) => {
    const path = join(folder, name);
    return [path, ...(isFolder(path) ? filesBelow(path) : [])];
  });
}

/** With the UID of the pod that a link leads to. */
function networkLinks(): { name: string; owner: string }[] {
  const folder = "/sys/class/net";
  return entries(folder).map((name) => ({ name, owner: lines(join(folder, name, "ifalias")).join("") }));
}

/** What goes away while we look is no leak. */
function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
