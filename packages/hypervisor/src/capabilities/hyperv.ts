import type { CpuidLeaf, HypervisorProbe } from "../contract.ts";

interface FeatureBit {
  readonly label: string;
  readonly leaf: number;
  readonly register: "eax" | "ebx" | "ecx" | "edx";
  readonly bit: number;
}

/** Where the hypervisor interface's CPUID leaves announce what node labels are named after. */
const featureBits: readonly FeatureBit[] = [
  { label: "runtime", leaf: 0x40000003, register: "eax", bit: 0 },
  { label: "time", leaf: 0x40000003, register: "eax", bit: 1 },
  { label: "synic", leaf: 0x40000003, register: "eax", bit: 2 },
  { label: "synictimer", leaf: 0x40000003, register: "eax", bit: 3 },
  { label: "vpindex", leaf: 0x40000003, register: "eax", bit: 6 },
  { label: "reset", leaf: 0x40000003, register: "eax", bit: 7 },
  { label: "frequencies", leaf: 0x40000003, register: "eax", bit: 11 },
  { label: "reenlightenment", leaf: 0x40000003, register: "eax", bit: 13 },
  { label: "tlbflush", leaf: 0x40000004, register: "eax", bit: 2 },
  { label: "ipi", leaf: 0x40000004, register: "eax", bit: 10 },
];

/** The same labels from libvirt's names. */
const enlightenmentLabels: Readonly<Record<string, string>> = {
  vpindex: "vpindex",
  runtime: "runtime",
  synic: "synic",
  stimer: "synictimer",
  reset: "reset",
  frequencies: "frequencies",
  reenlightenment: "reenlightenment",
  tlbflush: "tlbflush",
  ipi: "ipi",
};

/** What the node offers to Windows guests. Any enlightenment at all means `base`; `synic2` is synic without auto-EOI. */
export function hypervFeatures({ hypervCpuid, hypervEnlightenments }: HypervisorProbe): string[] {
  const found = new Set<string>();
  const leaves = new Map((hypervCpuid ?? []).map((leaf: CpuidLeaf) => [leaf.function, leaf]));
  for (const { label, leaf, register, bit } of featureBits) {
    const value = leaves.get(leaf)?.[register] ?? 0;
    if (((value >>> bit) & 1) === 1) found.add(label);
  }
  for (const name of hypervEnlightenments ?? []) {
    const label = enlightenmentLabels[name];
    if (label !== undefined) found.add(label);
  }
  if (found.has("synic")) found.add("synic2");
  if (leaves.has(0x40000000) || (hypervEnlightenments ?? []).length > 0) found.add("base");
  return [...found].sort();
}
