import { readFileSync } from "node:fs";
import { join } from "node:path";
import { adoptOrphans, collectOrphans, type ProcessEnd } from "@polyvirt/host";

/** Kept for the few ends that somebody may still ask about. */
const maxEnds = 16;

/**
 * Spawned by this process with a session of their own: Node waits for them. Children belong to the process, so this does,
 * too; a launcher that is asked for capabilities has two daemons for a while.
 */
const spawned = new Set<number>();

/**
 * libvirt lets go of the processes that it starts, and finds out by looking whether one has ended: it has to be gone, not
 * merely dead. So the launcher adopts them, and collects their ends as soon as they come.
 */
export class AdoptedProcesses {
  /** Where libvirt notes the processes of machines. */
  readonly #directory: string;
  readonly #ends = new Map<number, ProcessEnd>();
  readonly #collect = (): void => {
    for (const [pid, end] of collectOrphans(spawned)) this.#ends.set(pid, end);
    const forgotten = [...this.#ends.keys()].slice(0, -maxEnds);
    for (const pid of forgotten) this.#ends.delete(pid);
  };
  /** When Node has collected what is its own. */
  readonly #collectSoon = (): void => void setImmediate(this.#collect);

  constructor(directory: string) {
    this.#directory = directory;
  }

  start(): void {
    adoptOrphans();
    process.on("SIGCHLD", this.#collectSoon);
  }

  stop(): void {
    this.#collect();
    process.off("SIGCHLD", this.#collectSoon);
  }

  /** Leaves a process alone that this one has spawned. */
  except(pid: number): void {
    spawned.add(pid);
  }

  /** How the process ended, if it was ours and has. */
  endOf(pid: number): ProcessEnd | undefined {
    this.#collect();
    return this.#ends.get(pid);
  }

  /** The process of a machine. */
  machine(name: string): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.#directory, `${name}.pid`), "utf8").trim());
      return Number.isInteger(pid) && pid > 1 ? pid : undefined;
    } catch {
      // The machine does not run.
      return undefined;
    }
  }
}
