import { readFileSync } from "node:fs";
import { listProcesses } from "@polyvirt/host";

/** A process and everything that it started, or that came to it. */
export function familyOf(pid: number): number[] {
  const all = listProcesses();
  const found = [pid];
  for (const parent of found) found.push(...all.filter((entry) => entry.parent === parent).map((entry) => entry.pid));
  return found;
}

/** The words of its command line. */
export function commandLineOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
}

/** Memory that is shared counts in parts, so that the sum over all is what the machine has less. */
export function proportionalMib(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + memoryMib(pid, "smaps_rollup", "Pss"), 0);
}

export function residentMib(pid: number): number {
  return memoryMib(pid, "status", "VmRSS");
}

export function peakMib(pid: number): number {
  return memoryMib(pid, "status", "VmHWM");
}

function memoryMib(pid: number, file: string, field: string): number {
  const text = readFileSync(`/proc/${pid}/${file}`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? Number.NaN) / 1024;
}

/** User and system time; the kernel counts in hundredths of a second. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
