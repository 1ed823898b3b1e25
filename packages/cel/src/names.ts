/**
 * What a name may refer to inside a container: in `a.b`, the name `x` is `a.b.x`, then `a.x`, then `x`. A leading dot means
 * the name as it is.
 */
export function candidateNames(container: string, name: string): string[] {
  if (name.startsWith(".")) return [name.slice(1)];
  const candidates: string[] = [];
  for (let prefix = container; prefix !== ""; prefix = prefix.slice(0, Math.max(prefix.lastIndexOf("."), 0))) {
    candidates.push(`${prefix}.${name}`);
  }
  candidates.push(name);
  return candidates;
}
