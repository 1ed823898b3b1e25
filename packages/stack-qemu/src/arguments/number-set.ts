/** `0-2,^1,7` as numbers in order; undefined for anything else. For lists of CPUs and of NUMA nodes. */
export function parseNumberSet(text: string): readonly number[] | undefined {
  const chosen = new Set<number>();
  for (const part of text.split(",").map((piece) => piece.trim())) {
    const [, not, first, last] = /^(\^?)(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
    if (first === undefined || (not === "^" && last !== undefined)) return undefined;
    for (let number = Number(first); number <= Number(last ?? first); number += 1) {
      if (not === "^") chosen.delete(number);
      else chosen.add(number);
    }
  }
  return chosen.size === 0 ? undefined : [...chosen].toSorted((a, b) => a - b);
}

/** The numbers as ranges: `0-1`, `7`. */
export function numberRanges(numbers: readonly number[]): string[] {
  const ranges: { first: number; last: number }[] = [];
  for (const number of numbers) {
    const open = ranges.at(-1);
    if (open !== undefined && open.last === number - 1) open.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`));
}
