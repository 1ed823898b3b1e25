import type { DeviceProperties, DomainSection, MachineHost } from "./machine-plan.ts";
import { nodePolicy } from "./numa-policy.ts";
import { parseNumberSet } from "./number-set.ts";
import { scaleToBytes } from "./size.ts";

/** How memory is to be had: QEMU's object for it, without the size. */
export interface MemoryBacking {
  /** Whether the definition says anything about it. */
  readonly given: boolean;
  readonly type: "memory-backend-ram" | "memory-backend-memfd" | "memory-backend-file";
  readonly properties: DeviceProperties;
}

/** What a node of the guest, or a memory module, says about its own memory. */
export interface OwnBacking {
  readonly shared?: boolean | undefined;
  /** In bytes, instead of the page size of the node. */
  readonly pageSize?: number | undefined;
  /** Nodes of the host, instead of those that the definition names for the guest's node. */
  readonly hostNodes?: readonly number[] | undefined;
}

/** Pages of this size are the ordinary ones. */
const ordinaryPage = 4096;

/** Reads what the definition says, and tells for each node of the guest what that means. */
export function memoryBackings(
  domain: DomainSection,
  { stateDirectory }: Pick<MachineHost, "stateDirectory">,
): (cell: number, own?: OwnBacking) => MemoryBacking {
  const common = readCommon(domain);
  const pageSizeOf = readPages(domain);
  const policyOf = nodePolicy(domain);
  return (cell, own = {}) => {
    const pageSize = own.pageSize ?? pageSizeOf(cell);
    const huge = pageSize !== undefined && pageSize !== ordinaryPage;
    const shared = own.shared ?? common.shared;
    const policy = own.hostNodes === undefined ? policyOf(cell) : { "host-nodes": own.hostNodes, policy: "bind" };
    const file = common.source === "file" && !huge;
    const memfd = common.source === "memfd" || shared || huge;
    return {
      given: common.given || huge || own.shared !== undefined || policy["host-nodes"] !== undefined,
      type: file ? "memory-backend-file" : memfd ? "memory-backend-memfd" : "memory-backend-ram",
      properties: {
        // A folder: QEMU makes a file in it that has no name, and nothing is left of it in the end.
        "mem-path": file ? stateDirectory : undefined,
        share: file || memfd || common.given ? shared : undefined,
        prealloc: common.immediate || huge || undefined,
        "prealloc-threads": common.threads,
        merge: common.merge,
        hugetlb: huge || undefined,
        hugetlbsize: huge && pageSize > 0 ? pageSize : undefined,
        ...policy,
      },
    };
  };
}

function readCommon(domain: DomainSection) {
  const backing = domain.child("memoryBacking");
  const allocation = backing?.child("allocation");
  // Given back to the host when the guest ends, with its process.
  backing?.skip("discard");
  return {
    given: backing !== undefined,
    source: backing?.child("source")?.oneOf("type", ["memfd", "anonymous", "file"]),
    shared: backing?.child("access")?.oneOf("mode", ["shared", "private"]) === "shared",
    immediate: allocation?.oneOf("mode", ["immediate", "ondemand"]) === "immediate",
    threads: allocation?.number("threads"),
    merge: backing?.child("nosharepages") === undefined ? undefined : false,
  };
}

/** The size of the pages of a node, in bytes; 0 is the host's own choice of a huge page, undefined an ordinary one. */
function readPages(domain: DomainSection): (cell: number) => number | undefined {
  const huge = domain.child("memoryBacking")?.child("hugepages");
  if (huge === undefined) return () => undefined;
  const pages = huge.children("pages").map((page) => {
    const nodes = page.text("nodeset");
    const cells = nodes === undefined ? undefined : parseNumberSet(nodes);
    if (nodes !== undefined && cells === undefined) throw page.refuse("nodeset", "this is not a list of nodes");
    return { cells, bytes: scaleToBytes(page.number("size") ?? 0, page.text("unit"), page.path) };
  });
  if (pages.length === 0) return () => 0;
  return (cell) =>
    (pages.find(({ cells }) => cells?.includes(cell)) ?? pages.find(({ cells }) => cells === undefined))?.bytes;
}
