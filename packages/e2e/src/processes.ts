import { readFileSync, readdirSync } from "node:fs";

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly commandLine: string;
  readonly environment: string;
  /** The control groups that it is in. */
  readonly groups: string;
}

/** Every process of the machine, as /proc shows them. */
export function listProcesses(): ProcessInfo[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        if (fields[0] === "Z") return [];
        return [
          {
            pid: Number(name),
            parent: Number(fields[1]),
            commandLine: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim(),
            environment: readFileSync(`/proc/${name}/environ`, "utf8"),
            groups: readFileSync(`/proc/${name}/cgroup`, "utf8"),
          },
        ];
      } catch {
        // It ended while we were looking.
        return [];
      }
    });
}

/** The processes of one cluster: its own process, and everything that its pods started. */
export function clusterProcesses(dataDir: string, apiPort: number): ProcessInfo[] {
  const all = listProcesses();
  const mine = new Set(
    all
      .filter(
        (info) =>
          info.commandLine.includes(dataDir) ||
          info.environment.split("\0").includes(`KUBERNETES_SERVICE_PORT=${apiPort}`),
      )
      .map((info) => info.pid),
  );
  // Descendants too: a VMM may run with an environment of its own.
  for (let grown = true; grown;) {
    grown = false;
    for (const info of all) {
      if (!mine.has(info.pid) && mine.has(info.parent)) {
        mine.add(info.pid);
        grown = true;
      }
    }
  }
  mine.delete(process.pid);
  return all.filter((info) => mine.has(info.pid));
}
