import type { Container, Pod, ResourceFieldSelector } from "@polyvirt/api/k8s";
import { amountOf, parseAmount } from "../scheduler/resource-amount.ts";

/** What the downward API can tell besides the pod itself. */
export interface DownwardFacts {
  readonly nodeName: string;
  readonly hostIP: string;
  readonly podIP: string;
  /** Stand in for limits that a container does not set. */
  readonly allocatable: ReadonlyMap<string, number>;
}

const podFields: Readonly<Record<string, (pod: Pod, facts: DownwardFacts) => string>> = {
  "metadata.name": (pod) => pod.metadata.name ?? "",
  "metadata.namespace": (pod) => pod.metadata.namespace ?? "",
  "metadata.uid": (pod) => pod.metadata.uid ?? "",
  "metadata.labels": (pod) => formatMap(pod.metadata.labels),
  "metadata.annotations": (pod) => formatMap(pod.metadata.annotations),
  "spec.nodeName": (_pod, facts) => facts.nodeName,
  "spec.serviceAccountName": (pod) => pod.spec.serviceAccountName ?? "default",
  "status.podIP": (_pod, facts) => facts.podIP,
  "status.podIPs": (_pod, facts) => facts.podIP,
  "status.hostIP": (_pod, facts) => facts.hostIP,
  "status.hostIPs": (_pod, facts) => facts.hostIP,
};

/** The value of a `fieldRef`; undefined when there is no such field. */
export function fieldValue(pod: Pod, fieldPath: string, facts: DownwardFacts): string | undefined {
  const subscript = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath);
  if (subscript !== null) {
    const map = subscript[1] === "labels" ? pod.metadata.labels : pod.metadata.annotations;
    return map?.[subscript[2] ?? ""] ?? "";
  }
  return podFields[fieldPath]?.(pod, facts);
}

/** Sorted `key="value"` lines, quoted as Go's %q does for printable text. */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort()
    .join("\n");
}

/** The value of a `resourceFieldRef`, divided and rounded up; undefined when there is no such resource field. */
export function resourceValue(
  container: Container,
  selector: ResourceFieldSelector,
  facts: Pick<DownwardFacts, "allocatable">,
): string | undefined {
  const match = /^(limits|requests)\.(.+)$/.exec(selector.resource);
  const name = match?.[2];
  if (match === null || name === undefined) return undefined;
  const { limits = {}, requests = {} } = container.resources ?? {};
  const quantity = match[1] === "limits" ? limits[name] : (requests[name] ?? limits[name]);
  const fallback = match[1] === "limits" ? (facts.allocatable.get(name) ?? 0) : 0;
  const amount = quantity === undefined ? fallback : amountOf(name, quantity);
  const divisor = parseAmount(selector.divisor ?? "1");
  // cpu amounts are thousandths of a core, and so must be their divisor.
  const unit = (Number.isNaN(divisor) || divisor === 0 ? 1 : divisor) * (name === "cpu" ? 1000 : 1);
  return String(Math.ceil(amount / unit));
}
