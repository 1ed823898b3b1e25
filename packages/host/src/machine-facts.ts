import * as fs from "node:fs";
import * as os from "node:os";

/** What a node reports about the machine it runs on. */
export interface MachineFacts {
  readonly hostname: string;
  /** As Kubernetes names it: amd64, arm64, s390x. */
  readonly architecture: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly bootId: string;
  readonly machineId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

let knownBootId: string | undefined;

/** Changes with every boot of the machine; constant while this process lives. */
export function bootId(): string {
  knownBootId ??= readFirst(["/proc/sys/kernel/random/boot_id"]) ?? "unknown";
  return knownBootId;
}

/** `dataDirectory` is where pods keep their files: its file system gives the disk size. */
export function machineFacts(dataDirectory: string): MachineFacts {
  const disk = fs.statfsSync(dataDirectory);
  return {
    hostname: os.hostname(),
    architecture: architectures[process.arch] ?? process.arch,
    cpus: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    diskBytes: disk.bsize * disk.blocks,
    bootId: bootId(),
    machineId: readFirst(["/etc/machine-id", "/var/lib/dbus/machine-id"]) ?? bootId().replaceAll("-", ""),
    kernelVersion: os.release(),
    osImage: parseOsImage(readFirst(["/etc/os-release", "/usr/lib/os-release"]) ?? ""),
  };
}

export function parseOsImage(osRelease: string): string {
  const line = osRelease.split("\n").find((candidate) => candidate.startsWith("PRETTY_NAME="));
  return line?.slice("PRETTY_NAME=".length).replaceAll('"', "") ?? "Linux";
}

function readFirst(paths: readonly string[]): string | undefined {
  for (const path of paths) {
    try {
      const text = fs.readFileSync(path, "utf8").trim();
      if (text !== "") return text;
    } catch {
      // Not on this machine: the next place may have it.
    }
  }
  return undefined;
}
