/** Reads libvirt's CPU lists: `0-3,^1,6`. `undefined` when it is not one. */
export function parseCpuSet(text: string): number[] | undefined {
  const chosen = new Set<number>();
  for (const part of text.split(",").map((piece) => piece.trim())) {
    const match = /^(\^?)(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    if (match === null) return undefined;
    const [, not, first, last = first] = match;
    if (Number(last) < Number(first)) return undefined;
    for (let cpu = Number(first); cpu <= Number(last); cpu += 1) {
      if (not === "^") chosen.delete(cpu);
      else chosen.add(cpu);
    }
  }
  return [...chosen].sort((a, b) => a - b);
}

/** Writes CPUs the way libvirt does: `0,2-3`. */
export function formatCpuSet(cpus: readonly number[]): string {
  const sorted = [...new Set(cpus)].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const cpu of sorted) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === cpu - 1) run[1] = cpu;
    else runs.push([cpu, cpu]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
