import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { subresourceGroup, virtualMachineInstances, type VirtualMachineInstance } from "@polyvirt/api";
import type { Pod, UserInfo } from "@polyvirt/api/k8s";
import { hasCode, type Logger } from "@polyvirt/core";
import type { Informer, KubeClient } from "@polyvirt/kube";
import type { CertificateFiles } from "../server/certificates.ts";
import { sendJson, verifiedCommonName } from "../server/request.ts";
import { Refusal } from "../server/status.ts";
import { authorize } from "./authorize.ts";
import { checkConsole, consolePath } from "./console.ts";
import { discoveryDocument, subresourceVersions } from "./discovery.ts";
import { authenticate, type FrontProxyRules } from "./front-proxy.ts";
import { handlerAddress, spliceUpgrade } from "./handler-connection.ts";
import { clusterRoutes, matchRoute, type RouteMatch } from "./routes.ts";
import { versionDocument } from "./version.ts";

export interface SubresourceDeps {
  readonly client: Pick<KubeClient, "get" | "create">;
  readonly handlers: Pick<Informer<Pod>, "byIndex">;
  readonly frontProxyRules: () => FrontProxyRules | undefined;
  readonly handlerCertificates: () => CertificateFiles;
  /** Differs from the fixed one only in tests. */
  readonly handlerPort?: number;
  readonly version: string;
  readonly architecture: string;
  readonly logger: Logger;
}

const versionPath = new RegExp(
  `^/apis/${subresourceGroup.replaceAll(".", String.raw`\.`)}/(${subresourceVersions.join("|")})(/.*)$`,
);

export function isSubresourcePath(path: string): boolean {
  return path === "/apis" || path.startsWith(`/apis/${subresourceGroup}`);
}

/** Serves everything below the group that is not a stream. */
export async function serveSubresource(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  deps: SubresourceDeps,
): Promise<void> {
  const user = requireUser(request, deps);
  const document = discoveryDocument(path);
  if (document !== undefined) return sendJson(response, 200, document);
  const [, version = "", rest = ""] = versionPath.exec(path) ?? [];
  const name = rest.slice(1);
  if (name in clusterRoutes)
    return serveClusterRoute(name as keyof typeof clusterRoutes, version, user, response, deps);
  const match = findRoute(request, rest);
  await authorizeRoute(match, version, user, deps);
  if (match.route.stream) throw new Refusal(400, `${match.route.subresource} is a stream: connect with a WebSocket`);
  throw unserved(`${match.route.resource}/${match.route.subresource}`);
}

/** Serves the streams: after the checks, the connection belongs to virt-handler and the client. */
export async function serveStream(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  path: string,
  deps: SubresourceDeps,
): Promise<void> {
  const user = requireUser(request, deps);
  const [, version = "", rest = ""] = versionPath.exec(path) ?? [];
  const match = findRoute(request, rest);
  await authorizeRoute(match, version, user, deps);
  const { route, namespace, name } = match;
  if (!route.served || !route.stream) throw unserved(`${route.resource}/${route.subresource}`);
  const vmi = await findInstance(deps.client, namespace, name);
  checkConsole(vmi);
  const address = handlerAddress(vmi, deps.handlers);
  await spliceUpgrade(request, socket, head, {
    address,
    path: consolePath(namespace, name),
    certificates: deps.handlerCertificates(),
    ...(deps.handlerPort === undefined ? {} : { port: deps.handlerPort }),
  });
  deps.logger.info("opened a stream", { user: user.username, vmi: `${namespace}/${name}`, stream: route.subresource });
}

function requireUser(request: IncomingMessage, deps: SubresourceDeps): UserInfo {
  const proof = { commonName: verifiedCommonName(request), headers: request.headersDistinct };
  const user = authenticate(proof, deps.frontProxyRules());
  if (user === undefined) throw new Refusal(401, "Unauthorized: ask through the Kubernetes API server");
  return user;
}

async function serveClusterRoute(
  name: keyof typeof clusterRoutes,
  version: string,
  user: UserInfo,
  response: ServerResponse,
  deps: SubresourceDeps,
): Promise<void> {
  if (name === "healthz") return sendJson(response, 200, { apiserver: { connectivity: "ok" } });
  await authorize(deps.client, user, { version, resource: name, verb: "get" });
  if (name === "version") return sendJson(response, 200, versionDocument(deps));
  throw unserved(name);
}

function findRoute(request: IncomingMessage, rest: string): RouteMatch {
  const match = matchRoute(request.method ?? "", rest);
  if (match === undefined) throw new Refusal(404, "the server could not find the requested resource");
  return match;
}

function authorizeRoute(
  { route, namespace, name }: RouteMatch,
  version: string,
  user: UserInfo,
  deps: SubresourceDeps,
): Promise<void> {
  const verb = route.method === "GET" ? "get" : "update";
  const { resource, subresource } = route;
  return authorize(deps.client, user, { version, resource, subresource, namespace, name, verb });
}

async function findInstance(
  client: Pick<KubeClient, "get">,
  namespace: string,
  name: string,
): Promise<VirtualMachineInstance> {
  try {
    return await client.get(virtualMachineInstances, name, namespace);
  } catch (error) {
    if (!hasCode(error, "KubeNotFound")) throw error;
    throw new Refusal(404, `virtualmachineinstance.kubevirt.io "${name}" not found`, {
      group: "kubevirt.io",
      kind: "virtualmachineinstance",
      name,
    });
  }
}

function unserved(what: string): Refusal {
  return new Refusal(501, `${what} is not served by this version`);
}
