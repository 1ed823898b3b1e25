import type { KeyedCertificate } from "@polyvirt/kube";

import type { Exchange } from "../http/exchange.ts";
import { badRequest, methodNotAllowed, notFound, StatusError } from "../http/status-error.ts";
import type { UpgradeRoute } from "../http/upgrade-router.ts";
import { textOf, valueAt } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { proxyRequest, proxyUpgrade, type ProxyTarget } from "../proxy/reverse-proxy.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { SubresourceHandler } from "./resource-route.ts";

interface KubeletProxyDeps {
  readonly objects: Objects;
  readonly pods: Resource;
  readonly nodes: Resource;
  readonly client: KeyedCertificate;
  /** PEM that signed the kubelets' certificates. */
  readonly authority: string;
}

/** Query parameters of the API and what a kubelet calls them. */
const streamFlags = { stdin: "input", stdout: "output", stderr: "error", tty: "tty" } as const;
const logParameters = [
  "follow",
  "previous",
  "timestamps",
  "tailLines",
  "limitBytes",
  "sinceSeconds",
  "sinceTime",
  "stream",
];

type Connect = "exec" | "attach" | "portforward" | "log";

/** Logs, exec, attach and port-forward are answered by the kubelet of the pod's node, with the paths of a real kubelet. */
export class KubeletProxy {
  readonly #deps: KubeletProxyDeps;

  constructor(deps: KubeletProxyDeps) {
    this.#deps = deps;
  }

  /** Without an upgrade only logs make sense. */
  handler(kind: Connect): SubresourceHandler {
    return async (call, verb) => {
      if (kind !== "log") throw badRequest("Upgrade request required");
      if (verb !== "get") throw methodNotAllowed();
      const { exchange, namespace, target } = call;
      await this.#sendLog(exchange, namespace, target.name);
    };
  }

  upgrade: UpgradeRoute = async ({ request, socket, head, info }) => {
    const { resource: target } = info;
    if (target?.group !== "" || target.plural !== "pods") return false;
    const kind = target.subresource;
    if (kind !== "exec" && kind !== "attach" && kind !== "portforward") return false;
    const pod = this.#deps.objects.get(this.#deps.pods, target.namespace, target.name);
    proxyUpgrade(request, socket, head, this.#target(pod, pathFor(kind, pod, info.query)));
    return true;
  };

  async #sendLog(exchange: Exchange, namespace: string, name: string): Promise<void> {
    const pod = this.#deps.objects.get(this.#deps.pods, namespace, name);
    if (textOf(valueAt(pod, "spec", "nodeName")) === "") {
      // Nothing has run yet; a pod without a node has an empty log.
      containerOf(pod, exchange.query);
      return exchange.sendText(200, "");
    }
    await proxyRequest(exchange.request, exchange.response, this.#target(pod, pathFor("log", pod, exchange.query)));
  }

  #target(pod: ApiObject, path: string): ProxyTarget {
    const { objects, nodes, client, authority } = this.#deps;
    const nodeName = textOf(valueAt(pod, "spec", "nodeName"));
    if (nodeName === "") throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
    const node = objects.find(nodes, "", nodeName);
    if (node === undefined) throw notFound(nodes, nodeName);
    const address = objectsIn(valueAt(node, "status", "addresses")).find((item) => item["type"] === "InternalIP");
    const port = valueAt(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port");
    if (address === undefined || typeof port !== "number") {
      throw new StatusError(503, "ServiceUnavailable", `node ${nodeName} has not said where its kubelet listens`);
    }
    return {
      host: textOf(address["address"]),
      port,
      path,
      authority,
      client,
      headers: {},
      what: `the kubelet of node ${nodeName}`,
    };
  }
}

function pathFor(kind: Connect, pod: ApiObject, query: URLSearchParams): string {
  const { namespace = "", name = "" } = pod.metadata;
  const place = `${namespace}/${name}`;
  const passed = new URLSearchParams();
  switch (kind) {
    case "log":
      for (const key of logParameters) copyParameter(query, passed, key, key);
      return `/containerLogs/${place}/${containerOf(pod, query)}?${passed.toString()}`;
    case "exec":
    case "attach":
      for (const [from, to] of Object.entries(streamFlags)) {
        if (["1", "true"].includes(query.get(from) ?? "")) passed.set(to, "1");
      }
      for (const argument of query.getAll("command")) passed.append("command", argument);
      return `/${kind}/${place}/${containerOf(pod, query)}?${passed.toString()}`;
    case "portforward":
      for (const port of query.getAll("ports")) passed.append("port", port);
      return `/portForward/${place}?${passed.toString()}`;
  }
}

function copyParameter(from: URLSearchParams, to: URLSearchParams, key: string, name: string): void {
  const value = from.get(key);
  if (value !== null) to.set(name, value);
}

function containerOf(pod: ApiObject, query: URLSearchParams): string {
  const names = ["containers", "initContainers", "ephemeralContainers"].map((list) =>
    objectsIn(valueAt(pod, "spec", list)).map((container) => textOf(container["name"])),
  );
  const [main = [], init = [], ephemeral = []] = names;
  const asked = query.get("container") ?? pod.metadata.annotations?.["kubectl.kubernetes.io/default-container"] ?? "";
  if (asked !== "") {
    if ([...main, ...init, ...ephemeral].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`);
  }
  const [only, another] = main;
  if (only !== undefined && another === undefined) return only;
  const choices = `[${main.join(" ")}]`;
  const initNote = init.length === 0 ? "" : ` or one of the init containers: [${init.join(" ")}]`;
  throw badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: ${choices}${initNote}`,
  );
}
