/** What a container may use; nothing set means nothing limited. */
export interface ResourceLimits {
  /** Thousandths of a core. */
  readonly cpuLimit?: number;
  /** Share of the cpu when it is scarce, in thousandths of a core. */
  readonly cpuRequest?: number;
  readonly memoryBytes?: number;
}

/** A cgroup hierarchy of this machine and the place in it below which this process may make groups. */
export interface Hierarchy {
  /** Empty for the unified hierarchy of version 2. */
  readonly controller: string;
  readonly directory: string;
}

export interface PlannedGroup {
  readonly directory: string;
  /** In version 2: the group from which controllers have to be handed down. */
  readonly base?: string;
  /** File name → what to write. */
  readonly settings: ReadonlyMap<string, string>;
}

/** Controllers of version 1 that are used. `pids` limits nothing; it counts who belongs to the container. */
const controllers = ["pids", "memory", "cpu"];
const periodMicroseconds = 100_000;
const minShares = 2;

/**
 * Finds the hierarchies: groups are made below the group that this process itself is in, so that whoever limits us limits
 * our containers too.
 */
export function findHierarchies(ownGroups: string, mountInfo: string): Hierarchy[] {
  const mounts = mountInfo.split("\n").flatMap((line) => {
    const [head = "", tail = ""] = line.split(" - ");
    const [type = "", , options = ""] = tail.split(" ");
    const fields = head.split(" ");
    return type.startsWith("cgroup")
      ? [{ type, root: fields[3] ?? "/", place: fields[4] ?? "", options: options.split(",") }]
      : [];
  });
  const groups = ownGroups.split("\n").map((line) => line.split(":"));
  const unified = mounts.find(({ type }) => type === "cgroup2");
  const found = controllers.flatMap((controller) => {
    const mount = mounts.find(({ type, options }) => type === "cgroup" && options.includes(controller));
    const own = groups.find(([, names]) => names?.split(",").includes(controller))?.[2];
    return mount === undefined || own === undefined ? [] : [{ controller, directory: below(mount, own) }];
  });
  if (found.length > 0 || unified === undefined) return found;
  const own = groups.find(([id, names]) => id === "0" && names === "")?.[2] ?? "/";
  return [{ controller: "", directory: below(unified, parentOf(own, unified.root)) }];
}

/**
 * In version 2 a group that has processes of its own, as ours has, cannot give limits to groups below it; so containers
 * become siblings of ours, and whoever limits the group above us limits them too.
 */
function parentOf(own: string, root: string): string {
  return own === root || own === "/" ? own : own.slice(0, own.lastIndexOf("/")) || "/";
}

/** Every group between the place where this process may make groups and the container's own, outermost first. */
export function groupsAbove(base: string, group: string): string[] {
  const names = group
    .slice(base.length)
    .split("/")
    .filter((name) => name !== "");
  return names.map((_name, index) => [base, ...names.slice(0, index)].join("/"));
}

/** Which of the asked limits have no file that could be written. */
export function unenforcedLimits(limits: ResourceLimits, written: ReadonlySet<string>): string[] {
  const wanted = [
    { resource: "cpu", asked: limits.cpuLimit !== undefined, files: ["cpu.cfs_quota_us", "cpu.max"] },
    { resource: "memory", asked: limits.memoryBytes !== undefined, files: ["memory.limit_in_bytes", "memory.max"] },
  ];
  return wanted
    .filter(({ asked, files }) => asked && !files.some((file) => written.has(file)))
    .map(({ resource }) => resource);
}

/** A mount may show only a part of the hierarchy. */
function below({ root, place }: { root: string; place: string }, own: string): string {
  const relative = root !== "/" && own.startsWith(root) ? own.slice(root.length) : own;
  return `${place}${relative}`.replace(/\/+$/, "");
}

/** The groups of one container and what is written into them. */
export function planGroups(hierarchies: readonly Hierarchy[], name: string, limits: ResourceLimits): PlannedGroup[] {
  return hierarchies.map(({ controller, directory }) => ({
    directory: `${directory}/${name}`,
    ...(controller === "" ? { base: directory } : {}),
    settings: new Map(controller === "" ? unifiedSettings(limits) : (settingsOf[controller]?.(limits) ?? [])),
  }));
}

const settingsOf: Readonly<Record<string, (limits: ResourceLimits) => [string, string][]>> = {
  memory: ({ memoryBytes }) => (memoryBytes === undefined ? [] : [["memory.limit_in_bytes", String(memoryBytes)]]),
  cpu: ({ cpuLimit, cpuRequest }) => [
    ["cpu.shares", String(Math.max(minShares, Math.round(((cpuRequest ?? 0) * 1024) / 1000)))],
    ...(cpuLimit === undefined ? [] : ([["cpu.cfs_quota_us", quota(cpuLimit)]] satisfies [string, string][])),
  ],
};

function unifiedSettings({ cpuLimit, cpuRequest, memoryBytes }: ResourceLimits): [string, string][] {
  const shares = Math.max(minShares, Math.round(((cpuRequest ?? 0) * 1024) / 1000));
  // The range of shares (2 … 262144) onto the range of weights (1 … 10000), as container runtimes do it.
  const weight = Math.round(1 + ((shares - 2) * 9999) / 262142);
  return [
    ["cpu.weight", String(weight)],
    ...(cpuLimit === undefined
      ? []
      : ([["cpu.max", `${quota(cpuLimit)} ${periodMicroseconds}`]] satisfies [string, string][])),
    ...(memoryBytes === undefined ? [] : ([["memory.max", String(memoryBytes)]] satisfies [string, string][])),
  ];
}

function quota(millicores: number): string {
  return String(Math.max(1000, Math.round((millicores * periodMicroseconds) / 1000)));
}
