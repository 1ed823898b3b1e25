import { request as httpsRequest } from "node:https";

import { describeError, type Clock, type Logger, type Timer } from "@polyvirt/core";
import type { KeyedCertificate } from "@polyvirt/kube";

import type { Store } from "../../store/store.ts";
import type { UserInfo } from "../auth/user.ts";
import { WorkLoop } from "../housekeeping/work-loop.ts";
import { splitKey } from "../housekeeping/split-key.ts";
import type { Exchange } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { StatusError, unavailable } from "../http/status-error.ts";
import type { Upgrade } from "../http/upgrade-router.ts";
import { deepEqual, isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { proxyRequest, proxyUpgrade, type ProxyTarget } from "../proxy/reverse-proxy.ts";
import { ServiceUnreachable, type ServiceResolver } from "../proxy/service-resolver.ts";
import { timestamp, type Objects } from "../registry/objects.ts";
import { systemContext } from "../registry/request-context.ts";
import type { Resource } from "../registry/resource.ts";
import type { AggregatedVersion } from "../routes/discovery.ts";

interface AggregatorDeps {
  readonly store: Store;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly apiServices: Resource;
  readonly resolver: ServiceResolver;
  readonly client: KeyedCertificate;
}

interface RemoteService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  readonly authority: string | undefined;
  readonly groupPriority: number;
  readonly versionPriority: number;
  resources: readonly JsonObject[] | undefined;
}

const recheckMs = 30_000;
const retryMs = 1_000;
const discoveryTimeoutMs = 5_000;
const context = systemContext("kube-aggregator");

/** Serves API groups of other servers under this one's address: asks them what they have, and passes requests on. */
export class Aggregator {
  readonly #deps: AggregatorDeps;
  readonly #remotes = new Map<string, RemoteService>();
  readonly #loop: WorkLoop;
  #timer: Timer | undefined;

  constructor(deps: AggregatorDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      name: "aggregated APIs",
      clock: deps.clock,
      logger: deps.logger,
      run: (name) => this.#check(name),
    });
    for (const object of deps.objects.list(deps.apiServices)) this.#put(object);
    deps.store.subscribe((events) => {
      for (const { key, value } of events) {
        const { bucket, name } = splitKey(key);
        if (bucket === deps.apiServices.bucket) {
          if (value === undefined) this.#remotes.delete(name);
          else this.#put(JSON.parse(value.toString()) as ApiObject);
          this.#loop.add(name);
        } else if (bucket === "services" || bucket === "endpointslices.discovery.k8s.io") {
          for (const remote of this.#remotes.keys()) this.#loop.add(remote);
        }
      }
    });
  }

  start(): void {
    for (const name of this.#remotes.keys()) this.#loop.add(name);
    this.#timer = this.#deps.clock.setTimer(recheckMs, () => this.start());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#loop.stop();
  }

  versions(): AggregatedVersion[] {
    return [...this.#remotes.values()];
  }

  async handle(exchange: Exchange): Promise<boolean> {
    const target = this.#targetOf(exchange.info, exchange.user, exchange.request.url ?? "/");
    if (target === undefined) return false;
    await proxyRequest(exchange.request, exchange.response, target);
    return true;
  }

  async upgrade({ request, socket, head, info, user }: Upgrade): Promise<boolean> {
    const target = this.#targetOf(info, user, request.url ?? "/");
    if (target === undefined) return false;
    proxyUpgrade(request, socket, head, target);
    return true;
  }

  #targetOf({ path }: RequestInfo, user: UserInfo, url: string): ProxyTarget | undefined {
    const [, root, group, version] = path.split("/");
    if (root !== "apis") return undefined;
    const remote = this.#remotes.get(`${version}.${group}`);
    if (remote === undefined) return undefined;
    try {
      return this.#target(remote, user, url);
    } catch (error) {
      if (error instanceof ServiceUnreachable) throw unavailable(error.message);
      throw error;
    }
  }

  #target(remote: RemoteService, user: UserInfo, path: string): ProxyTarget {
    const { host, port } = this.#deps.resolver.resolve(remote.namespace, remote.service, remote.port);
    return {
      host,
      port,
      path,
      serverName: `${remote.service}.${remote.namespace}.svc`,
      authority: remote.authority,
      client: this.#deps.client,
      headers: remoteHeaders(user),
      what: `the API ${remote.name} (service ${remote.namespace}/${remote.service})`,
    };
  }

  #put(object: ApiObject): void {
    const spec = object["spec"];
    const service = valueAt(spec, "service");
    const name = object.metadata.name ?? "";
    if (!isJsonObject(service)) {
      this.#remotes.delete(name);
      return;
    }
    const number = (key: string): number => Number(valueAt(spec, key) ?? 0);
    const insecure = valueAt(spec, "insecureSkipTLSVerify") === true;
    const bundle = textOf(valueAt(spec, "caBundle"));
    this.#remotes.set(name, {
      name,
      group: textOf(valueAt(spec, "group")),
      version: textOf(valueAt(spec, "version")),
      namespace: textOf(service["namespace"]),
      service: textOf(service["name"]),
      port: Number(service["port"] ?? 443),
      authority: insecure ? undefined : Buffer.from(bundle, "base64").toString(),
      groupPriority: number("groupPriorityMinimum"),
      versionPriority: number("versionPriority"),
      resources: this.#remotes.get(name)?.resources,
    });
  }

  /** Asks the remote server for its resources and says in the status whether that worked. */
  async #check(name: string): Promise<void> {
    const { objects, apiServices } = this.#deps;
    const remote = this.#remotes.get(name);
    if (objects.find(apiServices, "", name) === undefined) return;
    const { status, reason, message } = remote === undefined ? localCondition : await this.#probe(remote);
    if (status === "False") this.#loop.addAfter(name, retryMs);
    try {
      await objects.update(context, {
        resource: apiServices,
        namespace: "",
        name,
        subresource: "status",
        change: (current) => this.#withCondition(current, { type: "Available", status, reason, message }),
      });
    } catch (error) {
      if (!(error instanceof StatusError && error.status.reason === "NotFound")) throw error;
    }
  }

  async #probe(remote: RemoteService): Promise<ProbeResult> {
    try {
      const target = this.#target(
        remote,
        { username: "system:kube-aggregator", groups: ["system:masters"] },
        `/apis/${remote.group}/${remote.version}`,
      );
      const list = await fetchJson(target);
      remote.resources = objectsIn(valueAt(list, "resources"));
      return { status: "True", reason: "Passed", message: "all checks passed" };
    } catch (error) {
      remote.resources = undefined;
      const reason = error instanceof ServiceUnreachable ? error.reason : "FailedDiscoveryCheck";
      return { status: "False", reason, message: describeError(error) };
    }
  }

  #withCondition(current: ApiObject, condition: JsonObject): ApiObject {
    const conditions = objectsIn(valueAt(current, "status", "conditions"));
    const old = conditions.find((item) => item["type"] === "Available");
    const { lastTransitionTime: _, ...rest } = old ?? {};
    if (deepEqual(rest, condition)) return current;
    const changed = old?.["status"] !== condition["status"];
    const time = changed ? timestamp(this.#deps.clock.now()) : old?.["lastTransitionTime"];
    return { ...current, status: { conditions: [{ lastTransitionTime: time, ...condition }] } };
  }
}

interface ProbeResult {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

const localCondition: ProbeResult = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};

/** How the target learns who asks; it believes this because of our client certificate. */
function remoteHeaders({ username, uid, groups, extra = {} }: UserInfo): Record<string, string | string[]> {
  return {
    "X-Remote-User": username,
    ...(uid === undefined ? {} : { "X-Remote-Uid": uid }),
    "X-Remote-Group": [...groups],
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`X-Remote-Extra-${encodeURIComponent(key)}`, [...values]]),
    ),
  };
}

function fetchJson(target: ProxyTarget): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({
      host: target.host,
      port: target.port,
      path: target.path,
      servername: target.serverName,
      cert: target.client.certificate,
      key: target.client.key,
      ...(target.authority === undefined ? { rejectUnauthorized: false } : { ca: target.authority }),
      headers: { ...target.headers, Accept: "application/json" },
      timeout: discoveryTimeoutMs,
      agent: false,
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${discoveryTimeoutMs / 1000} s`)));
    request.on("error", (cause) =>
      reject(new Error(`failing or missing response from ${target.what}: ${cause.message}`)),
    );
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode !== 200)
          return reject(
            new Error(`failing or missing response from ${target.what}: bad status ${response.statusCode}`),
          );
        try {
          return resolve(JSON.parse(text));
        } catch (cause) {
          return reject(new Error(`the answer of ${target.what} is not JSON`, { cause }));
        }
      });
    });
    request.end();
  });
}
