import type { Pod } from "@polyvirt/api/k8s";

export function isPodReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** Ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status !== "True") return false;
  return minReadySeconds === 0 || now - Date.parse(ready.lastTransitionTime ?? "") >= minReadySeconds * 1000;
}

/** Neither finished nor being deleted. */
export function isPodLive(pod: Pod): boolean {
  const phase = pod.status?.phase;
  return pod.metadata.deletionTimestamp === undefined && phase !== "Succeeded" && phase !== "Failed";
}

/** `25%` or a number, of a total. */
export function resolveIntOrPercent(
  value: number | string | undefined,
  total: number,
  round: "up" | "down",
  unset: number | string,
): number {
  const given = value ?? unset;
  if (typeof given === "number") return given;
  const percent = Number.parseFloat(given);
  if (Number.isNaN(percent)) return 0;
  if (!given.trim().endsWith("%")) return percent;
  const exact = (percent * total) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}
