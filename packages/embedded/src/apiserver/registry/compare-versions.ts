/** Newest stable version first, then beta, then alpha; names that are no such versions come last. */
export function compareVersions(left: string, right: string): number {
  return rank(right) - rank(left);
}

function rank(text: string): number {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(text);
  if (match === null) return -1;
  const stage = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return stage * 1e6 + Number(match[1]) * 1e3 + Number(match[3] ?? 0);
}
