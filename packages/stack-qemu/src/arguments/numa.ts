import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { MemoryBacking } from "./memory-backing.ts";
import { scaleToBytes } from "./size.ts";

/** Nodes of the guest's memory and CPUs. False when the definition has none. */
export function addNumaCells(domain: DomainSection, backing: MemoryBacking, plan: MachinePlan): boolean {
  const cells = domain.child("cpu")?.child("numa")?.children("cells") ?? [];
  for (const [index, cell] of cells.entries()) {
    const id = cell.number("id") ?? index;
    const bytes = scaleToBytes(cell.number("memory") ?? 0, cell.text("unit"), cell.path);
    const object = `ram-node${id}`;
    const shared = cell.oneOf("memAccess", ["shared", "private"]);
    const type = shared === "shared" ? "memory-backend-memfd" : backing.type;
    plan.addObject(type, object, { ...backing.properties, size: bytes, ...(shared && { share: shared === "shared" }) });
    const cpus = cell.text("cpus");
    if (cpus !== undefined && !/^[0-9,-]+$/.test(cpus)) throw cell.refuse("cpus", "this is not a list of CPUs");
    // Ranges of a list become an option each.
    const ranges = (cpus?.split(",") ?? []).map((range) => `,cpus=${range}`).join("");
    plan.addOption("-numa", `node,nodeid=${id}${ranges},memdev=${object}`);
    cell.skip("discard");
    for (const sibling of cell.child("distances")?.children("siblings") ?? []) {
      plan.addOption("-numa", `dist,src=${id},dst=${sibling.number("id") ?? 0},val=${sibling.number("value") ?? 10}`);
    }
  }
  return cells.length > 0;
}
