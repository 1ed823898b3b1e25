import { describe, expect, it } from "vitest";
import type { StoreEvent } from "../../store/event-log.ts";
import { builtinKinds } from "../kinds/index.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { ResourceRegistry } from "../registry/resource-registry.ts";
import { builtinResource, keyOf, prefixOf, type Resource } from "../registry/resource.ts";
import { ServiceResolver } from "./service-resolver.ts";

const registry = new ResourceRegistry(builtinKinds.map(builtinResource));
function builtin(group: string, plural: string): Resource {
  const found = registry.find(group, "v1", plural);
  if (found === undefined) throw new Error(`no resource ${plural}`);
  return found;
}
const services = builtin("", "services");
const endpointSlices = builtin("discovery.k8s.io", "endpointslices");
const pods = builtin("", "pods");

/** Objects by key, which counts how often it is asked for lists. */
class Shelf {
  readonly #objects = new Map<string, ApiObject>();
  #listener: (events: readonly StoreEvent[]) => void = () => undefined;
  lists = 0;

  subscribe(listener: (events: readonly StoreEvent[]) => void): void {
    this.#listener = listener;
  }

  find(resource: Resource, namespace: string, name: string): ApiObject | undefined {
    return this.#objects.get(keyOf(resource, namespace, name));
  }

  list(resource: Resource, namespace = ""): ApiObject[] {
    this.lists += 1;
    return [...this.#objects]
      .filter(([key]) => key.startsWith(prefixOf(resource, namespace)))
      .map(([, value]) => value);
  }

  put(resource: Resource, object: ApiObject): void {
    const key = keyOf(resource, object.metadata.namespace ?? "", object.metadata.name ?? "");
    this.#objects.set(key, object);
    this.#listener([{ key, revision: 1, value: Buffer.alloc(0), previous: undefined, last: undefined }]);
  }
}

const metadata = (name: string, namespace = "here") => ({ name, namespace, labels: { app: "web" } });
const web = {
  apiVersion: "v1",
  kind: "Service",
  metadata: metadata("web"),
  spec: { selector: { app: "web" }, ports: [{ port: 443, targetPort: 8443 }] },
};
const pod = (name: string, podIP: string, namespace = "here") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: metadata(name, namespace),
  spec: { containers: [] },
  status: { podIP, conditions: [{ type: "Ready", status: "True" }] },
});

function withService(): { shelf: Shelf; resolver: ServiceResolver } {
  const shelf = new Shelf();
  const resolver = new ServiceResolver({ store: shelf, objects: shelf, services, endpointSlices, pods });
  shelf.put(services, web);
  return { shelf, resolver };
}

describe("ServiceResolver", () => {
  it("looks once, and again when a pod of the namespace changes", () => {
    const { shelf, resolver } = withService();
    shelf.put(pods, pod("one", "10.0.0.1"));
    expect(resolver.resolve("here", "web", 443)).toEqual({ host: "10.0.0.1", port: 8443 });
    const looked = shelf.lists;
    resolver.resolve("here", "web", 443);
    shelf.put(pods, pod("foreign", "10.0.0.9", "elsewhere"));
    resolver.resolve("here", "web", 443);
    expect(shelf.lists).toBe(looked);
    shelf.put(pods, pod("one", "10.0.0.2"));
    expect(resolver.resolve("here", "web", 443)).toEqual({ host: "10.0.0.2", port: 8443 });
  });

  it("finds pods and services that come after somebody has asked in vain", () => {
    const { shelf, resolver } = withService();
    expect(() => resolver.resolve("here", "web", 443)).toThrow("no endpoints available");
    expect(() => resolver.resolve("here", "web", 80)).toThrow("has no port 80");
    expect(() => resolver.resolve("here", "other", 443)).toThrow('service "here/other" not found');
    shelf.put(services, { ...web, metadata: metadata("other") });
    const slice = { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: metadata("other-1") };
    const labels = { "kubernetes.io/service-name": "other" };
    const endpoints = [{ addresses: ["10.0.0.7"] }, { addresses: ["10.0.0.8"], conditions: { ready: false } }];
    shelf.put(endpointSlices, {
      ...slice,
      metadata: { ...slice.metadata, labels },
      ports: [{ port: 8443 }],
      endpoints,
    });
    expect(resolver.resolve("here", "other", 443)).toEqual({ host: "10.0.0.7", port: 8443 });
  });
});
