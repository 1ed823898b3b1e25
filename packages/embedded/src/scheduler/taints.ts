import type { Taint, Toleration } from "@polyvirt/api/k8s";

export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some((toleration) => matches(toleration, taint));
}

function matches(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== taint.effect) return false;
  // An empty key with Exists tolerates everything.
  if (toleration.key !== undefined && toleration.key !== "" && toleration.key !== taint.key) return false;
  if (toleration.operator === "Exists") return true;
  return toleration.key !== undefined && toleration.key !== "" && (toleration.value ?? "") === (taint.value ?? "");
}

/**
 * How long a pod may stay on a node with these NoExecute taints, in seconds: undefined for ever, 0 not at all.
 */
export function toleratedSeconds(
  tolerations: readonly Toleration[] | undefined,
  taints: readonly Taint[],
): number | undefined {
  let shortest: number | undefined;
  for (const taint of taints.filter(({ effect }) => effect === "NoExecute")) {
    const matching = (tolerations ?? []).filter((toleration) => matches(toleration, taint));
    if (matching.length === 0) return 0;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds === undefined) continue;
      shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, Math.max(0, tolerationSeconds));
    }
  }
  return shortest;
}
