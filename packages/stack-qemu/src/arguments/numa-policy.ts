import type { DomainSection } from "./machine-plan.ts";
import { parseNumberSet } from "./number-set.ts";
import type { Section } from "./section.ts";

/** In QEMU's terms: from which nodes of the host memory comes, and how strictly. */
interface NodePolicy {
  readonly "host-nodes"?: readonly number[];
  readonly policy?: string;
}

interface Tuning {
  mode?: string | undefined;
  nodeset?: string | undefined;
}

const policies = { strict: "bind", preferred: "preferred", interleave: "interleave" } as const;

/** Which nodes of the host the memory of each of the guest's nodes comes from. */
export function nodePolicy(domain: DomainSection): (cell: number) => NodePolicy {
  const tuning = domain.child("numatune");
  const memory = tuning?.child("memory");
  if (memory?.oneOf("placement", ["static", "auto"]) === "auto" && !memory.has("nodeset")) {
    throw memory.refuse("placement", "nobody chooses nodes here; name them in nodeset");
  }
  const common = memory === undefined || !(memory.has("nodeset") || memory.has("mode")) ? {} : readPolicy(memory);
  const own = new Map<number, NodePolicy>();
  for (const node of tuning?.children("memnodes") ?? []) own.set(node.number("cellid") ?? 0, readPolicy(node));
  return (cell) => own.get(cell) ?? common;
}

function readPolicy(tuning: Section<Tuning>): NodePolicy {
  // "strict" is libvirt's own default.
  const policy = policies[tuning.oneOf("mode", ["strict", "preferred", "interleave"]) ?? "strict"];
  const nodes = parseNumberSet(tuning.requireText("nodeset"));
  if (nodes === undefined) throw tuning.refuse("nodeset", "this is not a list of nodes");
  return { "host-nodes": nodes, policy };
}
