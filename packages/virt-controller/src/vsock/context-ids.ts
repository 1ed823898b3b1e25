import { randomInt } from "node:crypto";
import type { VirtualMachineInstance } from "@polyvirt/api";

/** Lower ones mean the hypervisor, the guest itself and the host. */
const FIRST = 3;
/** The highest means any; what is random stays below what `randomInt` can choose from. */
const LAST = 2 ** 32 - 2;

/** Addresses of guests for sockets between guest and node: no two guests of the cluster have the same one. */
export interface ContextIds {
  /** The one that this VMI has, or a new one; asked again it is the same. */
  idOf(vmi: VirtualMachineInstance): number;
}

interface ContextIdDeps {
  /** Every VMI of the cluster, as far as it is known here. */
  readonly vmis: () => readonly VirtualMachineInstance[];
  readonly random?: (first: number, last: number) => number;
}

export function createContextIds({ vmis, random = between }: ContextIdDeps): ContextIds {
  /** Given by this process, by UID, whether the cache shows them already or not. */
  const given = new Map<string, number>();
  return {
    idOf(vmi) {
      const { uid = "" } = vmi.metadata;
      const known = vmi.status?.VSOCKCID ?? given.get(uid);
      if (known !== undefined) return known;
      const all = vmis();
      const alive = new Set(all.map(({ metadata }) => metadata.uid));
      for (const other of given.keys()) if (!alive.has(other)) given.delete(other);
      const taken = new Set([...given.values(), ...all.flatMap(({ status }) => status?.VSOCKCID ?? [])]);
      let id = random(FIRST, LAST);
      while (taken.has(id)) id = id === LAST ? FIRST : id + 1;
      given.set(uid, id);
      return id;
    },
  };
}

/** Chosen at random, so that a program that waits for a guest that is gone does not meet the next one. */
function between(first: number, last: number): number {
  return randomInt(first, last + 1);
}
