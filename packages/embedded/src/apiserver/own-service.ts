import { ensure } from "./bootstrap.ts";
import { deepEqual } from "./json.ts";
import type { Objects } from "./registry/objects.ts";
import { systemContext } from "./registry/request-context.ts";
import type { Resource } from "./registry/resource.ts";

interface OwnServiceDeps {
  readonly objects: Objects;
  readonly services: Resource;
  readonly endpointSlices: Resource;
  readonly host: string;
  readonly port: number;
}

const name = "kubernetes";
const labels = { component: "apiserver", provider: "kubernetes" };
const context = systemContext("kube-apiserver");

/** This server under the name by which programs in pods know it: `kubernetes.default.svc`. */
export async function publishOwnService({
  objects,
  services,
  endpointSlices,
  host,
  port,
}: OwnServiceDeps): Promise<void> {
  await ensure(objects, services, "default", {
    metadata: { name, labels },
    spec: { ports: [{ name: "https", port: 443, targetPort: port }] },
  });
  const content = {
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: [{ name: "https", port, protocol: "TCP" }],
  };
  await ensure(objects, endpointSlices, "default", {
    metadata: { name, labels: { ...labels, "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ...content,
  });
  await objects.update(context, {
    resource: endpointSlices,
    namespace: "default",
    name,
    subresource: "",
    change: (current) => (deepEqual({ ...current, ...content }, current) ? current : { ...current, ...content }),
  });
}
