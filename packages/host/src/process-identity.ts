import * as fs from "node:fs";
import { bootId } from "./machine-facts.ts";
import { errors } from "./errors.ts";
import { libc } from "./libc.ts";

/**
 * Names one process for ever: the kernel reuses process ids, but not with the same start time in the same boot.
 * It is plain data, so that a restarted program finds its processes again.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between boot and the start of the process, as in /proc/PID/stat. */
  readonly startTime: string;
  readonly bootId: string;
}

interface ProcessStat {
  readonly pid: number;
  readonly command: string;
  /** R, S, D, … ; Z is dead and waiting for its parent. */
  readonly state: string;
  readonly parent: number;
  readonly session: number;
  readonly startTime: string;
}

const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;
const ESRCH = 3;

const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15, SIGCONT: 18, SIGSTOP: 19 } as const;

export type SignalName = keyof typeof signalNumbers;

/** The identity of a process that runs now, or undefined when there is none with this id. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const stat = readProcessStat(pid);
  return stat === undefined || isDead(stat) ? undefined : { pid, startTime: stat.startTime, bootId: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId()) return false;
  const stat = readProcessStat(identity.pid);
  return stat !== undefined && !isDead(stat) && stat.startTime === identity.startTime;
}

/**
 * Sends a signal to exactly this process; false when it has ended.
 * SAFETY: the pidfd is opened first and the identity checked after, so the signal cannot reach a process that got the
 * same id in between.
 */
export function signalProcess(identity: ProcessIdentity, signal: SignalName): boolean {
  if (!isAlive(identity)) return false;
  const c = libc();
  const pidfd = c.syscall(PIDFD_OPEN, identity.pid, 0, 0, 0);
  if (pidfd < 0) {
    const errno = c.errno();
    if (errno === ESRCH) return false;
    throw errors.HostCallFailed(`open process ${identity.pid} for a signal: errno ${errno}`);
  }
  try {
    if (!isAlive(identity)) return false;
    if (c.syscall(PIDFD_SEND_SIGNAL, pidfd, signalNumbers[signal], 0, 0) === 0) return true;
    const errno = c.errno();
    if (errno === ESRCH) return false;
    throw errors.HostCallFailed(`send ${signal} to process ${identity.pid}: errno ${errno}`);
  } finally {
    fs.closeSync(pidfd);
  }
}

/** Every process of the machine that is visible from here. */
export function listProcesses(): ProcessStat[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcessStat(Number(name)))
    .filter((stat) => stat !== undefined);
}

function isDead(stat: ProcessStat): boolean {
  return stat.state === "Z" || stat.state === "X";
}

function readProcessStat(pid: number): ProcessStat | undefined {
  try {
    return parseProcessStat(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // The process ended: its folder is gone (ENOENT) or going (ESRCH).
    return undefined;
  }
}

/** The name stands in parentheses and may itself contain blanks and parentheses, so it ends at the last one. */
export function parseProcessStat(line: string): ProcessStat | undefined {
  const open = line.indexOf("(");
  const close = line.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const rest = line.slice(close + 2).split(" ");
  const [state, parent, , session] = rest;
  const startTime = rest[19];
  if (state === undefined || startTime === undefined) return undefined;
  return {
    pid: Number(line.slice(0, open)),
    command: line.slice(open + 1, close),
    state,
    parent: Number(parent),
    session: Number(session),
    startTime,
  };
}
