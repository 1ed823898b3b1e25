import * as fs from "node:fs";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";

export interface ThreadInfo {
  readonly tid: number;
  readonly name: string;
}

/** The threads of a process; none when it has ended. */
export function listThreads(pid: number): ThreadInfo[] {
  try {
    return fs.readdirSync(`/proc/${pid}/task`).flatMap((name) => {
      const comm = readLine(`/proc/${pid}/task/${name}/comm`);
      return comm === undefined ? [] : [{ tid: Number(name), name: comm }];
    });
  } catch {
    return [];
  }
}

/** The process's id as it sees itself: in its innermost namespace. */
export function innermostPid(pid: number): number | undefined {
  const line = /^NSpid:\s+(.*)$/m.exec(readLine(`/proc/${pid}/status`, true) ?? "")?.[1];
  const inner = Number(line?.split(/\s+/).at(-1));
  return Number.isSafeInteger(inner) ? inner : undefined;
}

/**
 * Keeps a thread on these CPUs.
 * SAFETY: only tells the scheduler where a thread may run; a thread that has got another's id runs elsewhere, no more.
 */
export function pinThread(tid: number, cpus: readonly number[]): void {
  const mask = Buffer.alloc(Math.ceil((Math.max(0, ...cpus) + 1) / 64) * 8);
  for (const cpu of cpus) mask.writeUInt8(mask.readUInt8(cpu >> 3) | (1 << (cpu & 7)), cpu >> 3);
  if (libc().sched_setaffinity(tid, mask.length, mask) !== 0) {
    throw errors.HostCallFailed(`keep thread ${tid} on CPUs ${cpus.join(",")}: errno ${libc().errno()}`);
  }
}

function readLine(path: string, whole = false): string | undefined {
  try {
    const text = fs.readFileSync(path, "utf8");
    return whole ? text : text.trimEnd();
  } catch {
    // The thread ended meanwhile.
    return undefined;
  }
}
