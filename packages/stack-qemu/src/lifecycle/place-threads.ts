import { listThreads, pinThread } from "@polyvirt/host";
import { errors } from "@polyvirt/stack";
import type { ThreadPlacement } from "../arguments/machine-plan.ts";

/** What the monitor is asked for here. */
interface Monitor {
  execute(command: string): Promise<unknown>;
}

interface VcpuThread {
  readonly "cpu-index": number;
  readonly "thread-id": number;
}

interface IoThread {
  readonly id: string;
  readonly "thread-id": number;
}

/** Puts the threads of a machine, whose CPUs are still stopped, where its definition wants them. */
export async function placeThreads(placement: ThreadPlacement, monitor: Monitor, pid: number): Promise<void> {
  const { vcpus, iothreads, emulator } = placement;
  if (vcpus.size === 0 && iothreads.size === 0 && emulator === undefined) return;
  // The answers' shapes are part of QEMU's stable protocol.
  const cpuThreads = (await monitor.execute("query-cpus-fast")) as readonly VcpuThread[];
  const ioThreads = (await monitor.execute("query-iothreads")) as readonly IoThread[];
  const special = new Set([...cpuThreads, ...ioThreads].map((thread) => thread["thread-id"]));
  if (emulator !== undefined) {
    for (const { tid } of listThreads(pid)) if (!special.has(tid)) place(tid, emulator);
  }
  for (const thread of cpuThreads) {
    const cpus = vcpus.get(thread["cpu-index"]);
    if (cpus !== undefined) place(thread["thread-id"], cpus);
  }
  for (const thread of ioThreads) {
    const cpus = iothreads.get(thread.id) ?? emulator;
    if (cpus !== undefined) place(thread["thread-id"], cpus);
  }
}

function place(tid: number, cpus: readonly number[]): void {
  try {
    pinThread(tid, cpus);
  } catch (cause) {
    const wanted = cpus.join(",");
    throw errors.StackStartFailed(`keep a thread on CPUs ${wanted}: the pod does not have them; name others`, {
      cause,
    });
  }
}
