import { errors } from "@polyvirt/stack";
import type { QmpClient } from "../qmp/qmp-client.ts";

// Shapes are QEMU's published schema for these commands.
interface CpuSlot {
  readonly type: string;
  readonly props: Readonly<Record<string, number>>;
  /** Present when the CPU is. */
  readonly "qom-path"?: string;
}

/** CPUs can be added up to the number that the machine was defined with; QEMU does not take them away reliably. */
export async function addVcpus(monitor: QmpClient, count: number): Promise<void> {
  const slots = (await monitor.execute("query-hotpluggable-cpus")) as CpuSlot[];
  const present = slots.filter((slot) => slot["qom-path"] !== undefined).length;
  if (count < present) {
    throw errors.StackNotSupported(
      `change the CPUs from ${present} to ${count}: stack qemu cannot take CPUs away; restart the machine`,
    );
  }
  if (count > slots.length) {
    throw errors.StackCommandFailed(
      `change the CPUs to ${count}: the machine was defined with at most ${slots.length}`,
    );
  }
  for (const [index, slot] of freeSlots(slots)
    .slice(0, count - present)
    .entries()) {
    await monitor.execute("device_add", { driver: slot.type, id: `vcpu${present + index}`, ...slot.props });
  }
}

/** In the order in which the machine numbers its CPUs. */
export function freeSlots(slots: readonly CpuSlot[]): CpuSlot[] {
  const rank = ({ props }: CpuSlot): number[] =>
    ["node-id", "socket-id", "die-id", "core-id", "thread-id"].map((key) => props[key] ?? 0);
  return slots
    .filter((slot) => slot["qom-path"] === undefined)
    .toSorted((left, right) => {
      const [a, b] = [rank(left), rank(right)];
      const first = a.findIndex((value, index) => value !== b[index]);
      return first < 0 ? 0 : (a[first] ?? 0) - (b[first] ?? 0);
    });
}

/** Memory grows by modules; the guest cannot be made to give one back. */
export async function addMemory(monitor: QmpClient, bytes: number, serial: number): Promise<void> {
  const summary = (await monitor.execute("query-memory-size-summary")) as Record<string, number>;
  const present = (summary["base-memory"] ?? 0) + (summary["plugged-memory"] ?? 0);
  if (bytes === present) return;
  if (bytes < present) {
    throw errors.StackNotSupported(
      `change the memory from ${present} to ${bytes} bytes: stack qemu cannot take memory away; restart the machine`,
    );
  }
  const id = `memory${serial}`;
  await monitor.execute("object-add", { "qom-type": "memory-backend-ram", id, size: bytes - present });
  try {
    await monitor.execute("device_add", { driver: "pc-dimm", id: `dimm${serial}`, memdev: id });
  } catch (error) {
    await monitor.execute("object-del", { id });
    throw error;
  }
}
