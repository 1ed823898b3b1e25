import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { matchesSelector } from "../registry/label-selector.ts";
import type { Store } from "../../store/store.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Why a service cannot be reached now; `reason` is a word for conditions. */
export class ServiceUnreachable extends Error {
  readonly reason: "ServiceNotFound" | "ServicePortError" | "MissingEndpoints";

  constructor(reason: ServiceUnreachable["reason"], message: string) {
    super(message);
    this.name = "ServiceUnreachable";
    this.reason = reason;
  }
}

interface ResolverDeps {
  readonly store: Pick<Store, "subscribe">;
  readonly objects: Pick<Objects, "find" | "list">;
  readonly services: Resource;
  readonly endpointSlices: Resource;
  readonly pods: Resource;
}

/**
 * Finds a ready pod behind a service: by its endpoint slices, and by its selector. What was found is kept until something of
 * the kind changes in the namespace, because every webhook and every aggregated request asks.
 */
export class ServiceResolver {
  readonly #deps: ResolverDeps;
  readonly #known = new Map<string, Map<string, Endpoint[]>>();

  constructor(deps: ResolverDeps) {
    this.#deps = deps;
    const buckets = [deps.services, deps.endpointSlices, deps.pods].map(({ bucket }) => `${bucket}/`);
    deps.store.subscribe((events) => {
      if (this.#known.size === 0) return;
      for (const { key } of events) {
        const bucket = buckets.find((prefix) => key.startsWith(prefix));
        if (bucket !== undefined) this.#known.delete(key.slice(bucket.length, key.indexOf("/", bucket.length)));
      }
    });
  }

  resolve(namespace: string, name: string, port: number): Endpoint {
    const known = this.#known.get(namespace) ?? new Map<string, Endpoint[]>();
    const service = `${name}:${port}`;
    const found = known.get(service) ?? this.#endpoints(namespace, name, port);
    this.#known.set(namespace, known.set(service, found));
    const endpoint = found[Math.floor(Math.random() * found.length)];
    if (endpoint === undefined)
      throw new ServiceUnreachable("MissingEndpoints", `no endpoints available for service "${name}"`);
    return endpoint;
  }

  #endpoints(namespace: string, name: string, port: number): Endpoint[] {
    const { objects, services } = this.#deps;
    const service = objects.find(services, namespace, name);
    if (service === undefined)
      throw new ServiceUnreachable("ServiceNotFound", `service "${namespace}/${name}" not found`);
    const ports = objectsIn(valueAt(service, "spec", "ports"));
    const servicePort = ports.find((item) => item["port"] === port);
    if (servicePort === undefined) {
      throw new ServiceUnreachable("ServicePortError", `service "${namespace}/${name}" has no port ${port}`);
    }
    if (valueAt(service, "spec", "type") === "ExternalName")
      return [{ host: textOf(valueAt(service, "spec", "externalName")), port }];
    return [...this.#fromSlices(namespace, name, servicePort), ...this.#fromPods(service, servicePort)];
  }

  #fromSlices(namespace: string, name: string, servicePort: JsonObject): Endpoint[] {
    const { objects, endpointSlices } = this.#deps;
    return objects
      .list(endpointSlices, namespace)
      .filter((slice) => slice.metadata.labels?.["kubernetes.io/service-name"] === name)
      .flatMap((slice) => {
        const slicePort = objectsIn(slice["ports"]).find(
          (item) => textOf(item["name"]) === textOf(servicePort["name"]),
        );
        const number = slicePort?.["port"];
        if (typeof number !== "number") return [];
        return objectsIn(slice["endpoints"])
          .filter((endpoint) => valueAt(endpoint, "conditions", "ready") !== false)
          .flatMap((endpoint) => (Array.isArray(endpoint["addresses"]) ? endpoint["addresses"].map(String) : []))
          .map((host) => ({ host, port: number }));
      });
  }

  /** Right after a start the slices may lag behind the pods. */
  #fromPods(service: ApiObject, servicePort: JsonObject): Endpoint[] {
    const selector = valueAt(service, "spec", "selector");
    if (!isJsonObject(selector) || Object.keys(selector).length === 0) return [];
    const { objects, pods } = this.#deps;
    return objects
      .list(pods, service.metadata.namespace)
      .filter((pod) => isReady(pod) && matchesSelector({ matchLabels: selector }, pod.metadata.labels ?? {}))
      .flatMap((pod) => {
        const port = targetPort(pod, servicePort);
        const host = textOf(valueAt(pod, "status", "podIP"));
        return port === undefined || host === "" ? [] : [{ host, port }];
      });
  }
}

function isReady(pod: ApiObject): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  return objectsIn(valueAt(pod, "status", "conditions")).some(
    (item) => item["type"] === "Ready" && item["status"] === "True",
  );
}

function targetPort(pod: ApiObject, servicePort: JsonObject): number | undefined {
  const target = servicePort["targetPort"] ?? servicePort["port"];
  if (typeof target === "number") return target;
  const ports = objectsIn(valueAt(pod, "spec", "containers")).flatMap((container) => objectsIn(container["ports"]));
  const named = ports.find((port) => port["name"] === target)?.["containerPort"];
  return typeof named === "number" ? named : undefined;
}
