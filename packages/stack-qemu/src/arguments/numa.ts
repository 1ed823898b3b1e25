import { errors } from "@polyvirt/stack";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { MemoryBacking, OwnBacking } from "./memory-backing.ts";
import { numberRanges, parseNumberSet } from "./number-set.ts";
import { alignMemory, scaleToBytes } from "./size.ts";

/** Nodes of the guest's memory and CPUs. Returns how much memory they have together; 0 when there are none. */
export function addNumaCells(
  domain: DomainSection,
  backingOf: (cell: number, own?: OwnBacking) => MemoryBacking,
  plan: MachinePlan,
): number {
  const cells = domain.child("cpu")?.child("numa")?.children("cells") ?? [];
  const ids = cells.map((cell, index) => cell.number("id") ?? index);
  let total = 0;
  for (const [index, cell] of cells.entries()) {
    const id = ids[index] ?? index;
    const bytes = alignMemory(scaleToBytes(cell.number("memory") ?? 0, cell.text("unit"), cell.path));
    total += bytes;
    const object = `ram-node${id}`;
    const access = cell.oneOf("memAccess", ["shared", "private"]);
    const { type, properties } = backingOf(id, access === undefined ? {} : { shared: access === "shared" });
    // A node may have CPUs alone.
    if (bytes > 0) plan.addObject(type, object, { ...properties, size: bytes });
    const given = cell.text("cpus");
    const cpus = given === undefined ? [] : parseNumberSet(given);
    if (cpus === undefined) throw cell.refuse("cpus", "this is not a list of CPUs");
    // Ranges of a list become an option each.
    const ranges = numberRanges(cpus).map((range) => `,cpus=${range}`);
    plan.addOption("-numa", `node,nodeid=${id}${ranges.join("")}${bytes > 0 ? `,memdev=${object}` : ""}`);
    // Given back to the host when the guest ends, with its process.
    cell.skip("discard");
  }
  for (const [index, cell] of cells.entries()) {
    for (const sibling of cell.child("distances")?.children("siblings") ?? []) {
      const other = sibling.number("id") ?? 0;
      if (!ids.includes(other)) throw sibling.refuse("id", "there is no such node in cpu.numa");
      const value = sibling.number("value") ?? 10;
      plan.addOption("-numa", `dist,src=${ids[index] ?? index},dst=${other},val=${value}`);
    }
  }
  if (cells.length > 0 && total === 0) throw errors.StackDefinitionRefused("read cpu.numa: its nodes have no memory");
  return total;
}
