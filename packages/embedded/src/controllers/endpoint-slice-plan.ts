import type { ContainerPort, Endpoint, EndpointSlice, Pod, Service, ServicePort } from "@polyvirt/api/k8s";
import { controllerReference } from "./pod-template.ts";
import { isPodReady } from "./pod-readiness.ts";

const serviceNameLabel = "kubernetes.io/service-name";
const managedByLabel = "endpointslice.kubernetes.io/managed-by";
const managedBy = "endpointslice-controller.k8s.io";
/** Kubernetes' default size of a slice. */
const sliceSize = 100;

/**
 * The slices of a service: the pods that it selects, grouped by the port numbers that its named ports mean on them.
 * Names are stable, so that the same pods give the same objects.
 */
export function endpointSlices(service: Service, selected: readonly Pod[]): EndpointSlice[] {
  const groups = new Map<string, { ports: NonNullable<EndpointSlice["ports"]>; endpoints: Endpoint[] }>();
  for (const pod of [...selected].sort(byName)) {
    const endpoint = endpointOf(service, pod);
    if (endpoint === undefined) continue;
    const ports = (service.spec?.ports ?? []).flatMap((port) => resolvePort(port, pod));
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    group.endpoints.push(endpoint);
    groups.set(key, group);
  }
  const slices = [...groups.values()].flatMap(({ ports, endpoints }) =>
    chunks(endpoints, sliceSize).map((part) => ({ ports, endpoints: part })),
  );
  return slices.map(({ ports, endpoints }, index) => slice(service, index, ports, endpoints));
}

function slice(
  service: Service,
  index: number,
  ports: NonNullable<EndpointSlice["ports"]>,
  endpoints: Endpoint[],
): EndpointSlice {
  const { name = "", namespace } = service.metadata;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${name}-${index}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...service.metadata.labels, [serviceNameLabel]: name, [managedByLabel]: managedBy },
      ownerReferences: [controllerReference({ ...service, apiVersion: "v1", kind: "Service" })],
    },
    addressType: "IPv4",
    endpoints,
    ports,
  };
}

function endpointOf(service: Service, pod: Pod): Endpoint | undefined {
  const address = pod.status?.podIP;
  const phase = pod.status?.phase;
  if (address === undefined || phase === "Succeeded" || phase === "Failed") return undefined;
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const serving = isPodReady(pod);
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const { name, namespace, uid } = pod.metadata;
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(pod.spec.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: {
      kind: "Pod",
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
    },
  };
}

function resolvePort(port: ServicePort, pod: Pod): NonNullable<EndpointSlice["ports"]> {
  const target = port.targetPort ?? port.port;
  const number = typeof target === "number" ? target : containerPort(pod, target, port.protocol)?.containerPort;
  if (number === undefined) return [];
  return [{ name: port.name ?? "", protocol: port.protocol ?? "TCP", port: number }];
}

function containerPort(pod: Pod, name: string, protocol: ServicePort["protocol"]): ContainerPort | undefined {
  return pod.spec.containers
    .flatMap(({ ports }) => ports ?? [])
    .find((port) => port.name === name && (port.protocol ?? "TCP") === (protocol ?? "TCP"));
}

function byName(a: Pod, b: Pod): number {
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

export function isManagedSlice(slice: EndpointSlice, service: string): boolean {
  const labels = slice.metadata.labels;
  return labels?.[serviceNameLabel] === service && labels[managedByLabel] === managedBy;
}
