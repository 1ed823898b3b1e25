import { createHash } from "node:crypto";

import { parseAccept } from "../http/media-type.ts";
import { noSuchRoute } from "../http/status-error.ts";
import type { Exchange } from "../http/exchange.ts";
import type { JsonObject } from "../json.ts";
import { compareVersions } from "../registry/compare-versions.ts";
import { apiVersionOf, type Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import { subresourceKinds, type SubresourceKind } from "./subresource-kinds.ts";

/** A group version that another server answers for, with what that server says about it. */
export interface AggregatedVersion {
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** The remote server's APIResourceList; undefined while it cannot be asked. */
  readonly resources: readonly JsonObject[] | undefined;
}

interface DiscoveryDeps {
  readonly registry: ResourceRegistry;
  aggregated(): readonly AggregatedVersion[];
  /** Where clients reach this server, for the legacy list of addresses. */
  address(): string;
}

/** Answers which groups, versions and resources there are, in the old form (many requests) and the new one (two). */
export class Discovery {
  readonly #deps: DiscoveryDeps;

  constructor(deps: DiscoveryDeps) {
    this.#deps = deps;
  }

  handle(exchange: Exchange): boolean {
    const parts = exchange.info.path.split("/").filter((part) => part !== "");
    if (exchange.info.method !== "GET" && exchange.info.method !== "HEAD") return false;
    if (parts[0] === "api") {
      if (parts.length === 1) this.#sendRoot(exchange, true);
      else if (parts.length === 2) this.#sendResources(exchange, "", parts[1] ?? "");
      else return false;
      return true;
    }
    if (parts[0] !== "apis") return false;
    if (parts.length === 1) this.#sendRoot(exchange, false);
    else if (parts.length === 2) this.#sendGroup(exchange, parts[1] ?? "");
    else if (parts.length === 3) this.#sendResources(exchange, parts[1] ?? "", parts[2] ?? "");
    else return false;
    return true;
  }

  #sendRoot(exchange: Exchange, core: boolean): void {
    const wanted = aggregatedForm(exchange.request.headers.accept);
    if (wanted !== undefined) {
      const items = this.#groups()
        .filter((group) => (group.name === "") === core)
        .map((group) => this.#aggregatedGroup(group));
      const body = { kind: "APIGroupDiscoveryList", apiVersion: `apidiscovery.k8s.io/${wanted}`, metadata: {}, items };
      const bytes = Buffer.from(JSON.stringify(body));
      const tag = `"${createHash("sha256").update(bytes).digest("hex").toUpperCase()}"`;
      const type = `application/json;g=apidiscovery.k8s.io;v=${wanted};as=APIGroupDiscoveryList`;
      if (exchange.request.headers["if-none-match"] === tag)
        exchange.sendBytes(304, Buffer.alloc(0), type, { ETag: tag });
      else exchange.sendBytes(200, bytes, type, { ETag: tag, Vary: "Accept" });
    } else if (core) {
      const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: this.#deps.address() }];
      exchange.send(200, { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs });
    } else {
      const groups = this.#groups()
        .filter((group) => group.name !== "")
        .map(legacyGroup);
      exchange.send(200, { kind: "APIGroupList", apiVersion: "v1", groups });
    }
  }

  #sendGroup(exchange: Exchange, name: string): void {
    const group = this.#groups().find((item) => item.name === name);
    if (group === undefined) throw noSuchRoute();
    exchange.send(200, { kind: "APIGroup", apiVersion: "v1", ...legacyGroup(group) });
  }

  #sendResources(exchange: Exchange, group: string, version: string): void {
    const found = this.#groups()
      .find((item) => item.name === group)
      ?.versions.find((item) => item.version === version);
    if (found === undefined || found.remote !== undefined) throw noSuchRoute();
    const resources = found.resources.flatMap((resource) => [
      legacyResource(resource),
      ...[...resource.subresources].map((name) => legacySubresource(resource, name)),
    ]);
    exchange.send(200, {
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: apiVersionOf(group, version),
      resources,
    });
  }

  #groups(): Group[] {
    const groups = new Map<string, Map<string, GroupVersion>>();
    const versionOf = (group: string, version: string): GroupVersion => {
      const versions = groups.get(group) ?? new Map<string, GroupVersion>();
      groups.set(group, versions);
      const found = versions.get(version) ?? { version, resources: [] };
      versions.set(version, found);
      return found;
    };
    const byPlural = (left: Resource, right: Resource): number => (left.plural < right.plural ? -1 : 1);
    for (const resource of this.#deps.registry.all().toSorted(byPlural))
      versionOf(resource.group, resource.version).resources.push(resource);
    for (const remote of this.#deps.aggregated()) versionOf(remote.group, remote.version).remote = remote;
    return [...groups].map(([name, versions]) => ({
      name,
      versions: [...versions.values()].sort((a, b) => compareVersions(a.version, b.version)),
    }));
  }

  #aggregatedGroup(group: Group): JsonObject {
    return {
      metadata: group.name === "" ? { creationTimestamp: null } : { name: group.name, creationTimestamp: null },
      versions: group.versions.map(({ version, resources, remote }) => ({
        version,
        resources: remote === undefined ? resources.map(aggregatedResource) : remoteResources(remote),
        freshness: remote !== undefined && remote.resources === undefined ? "Stale" : "Current",
      })),
    };
  }
}

interface GroupVersion {
  readonly version: string;
  readonly resources: Resource[];
  remote?: AggregatedVersion;
}

interface Group {
  readonly name: string;
  readonly versions: readonly GroupVersion[];
}

function aggregatedForm(accept: string | undefined): "v2" | "v2beta1" | undefined {
  for (const { parameters } of parseAccept(accept ?? "")) {
    if (parameters.get("as") !== "APIGroupDiscoveryList" || parameters.get("g") !== "apidiscovery.k8s.io") continue;
    const version = parameters.get("v");
    if (version === "v2" || version === "v2beta1") return version;
  }
  return undefined;
}

function legacyGroup({ name, versions }: Group): JsonObject {
  const list = versions.map(({ version }) => ({ groupVersion: apiVersionOf(name, version), version }));
  return { name, versions: list, preferredVersion: list[0] };
}

function legacyResource(resource: Resource): JsonObject {
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.namespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
    ...(resource.virtual ? {} : { storageVersionHash: versionHash(resource) }),
  };
}

const versionHash = (resource: Resource): string =>
  createHash("sha256")
    .update(`${resource.storageApiVersion}/${resource.kind}`)
    .digest()
    .subarray(0, 8)
    .toString("base64");

function kindOfSubresource(resource: Resource, name: string): SubresourceKind {
  return subresourceKinds[name] ?? { kind: resource.kind, verbs: ["get", "patch", "update"] };
}

function legacySubresource(resource: Resource, name: string): JsonObject {
  const { group, version, kind, verbs } = kindOfSubresource(resource, name);
  return {
    name: `${resource.plural}/${name}`,
    singularName: "",
    namespaced: resource.namespaced,
    ...(group === undefined ? {} : { group, version }),
    kind,
    verbs,
  };
}

function aggregatedResource(resource: Resource): JsonObject {
  const responseKind = { group: resource.group, version: resource.version, kind: resource.kind };
  const subresources = [...resource.subresources].map((name) => {
    const { group = resource.group, version = resource.version, kind, verbs } = kindOfSubresource(resource, name);
    return { subresource: name, responseKind: { group, version, kind }, verbs };
  });
  return {
    resource: resource.plural,
    responseKind,
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs: resource.verbs,
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** The old form of a remote server's resources in the new form: subresources move below their resource. */
function remoteResources({ group, version, resources = [] }: AggregatedVersion): JsonObject[] {
  const parents = new Map<string, JsonObject & { subresources: JsonObject[] }>();
  const parentOf = (plural: string, namespaced: unknown): JsonObject & { subresources: JsonObject[] } => {
    const known = parents.get(plural);
    if (known !== undefined) return known;
    const created = {
      resource: plural,
      scope: namespaced === true ? "Namespaced" : "Cluster",
      singularResource: "",
      verbs: [] as unknown,
      subresources: [] as JsonObject[],
    };
    parents.set(plural, created);
    return created;
  };
  for (const item of resources) {
    const [plural = "", subresource] = String(item["name"]).split("/", 2);
    const responseKind = { group: item["group"] ?? group, version: item["version"] ?? version, kind: item["kind"] };
    const parent = parentOf(plural, item["namespaced"]);
    if (subresource === undefined) {
      Object.assign(parent, { responseKind, verbs: item["verbs"], singularResource: item["singularName"] ?? "" });
    } else {
      parent.subresources.push({ subresource, responseKind, verbs: item["verbs"] });
    }
  }
  return [...parents.values()];
}
