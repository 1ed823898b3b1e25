import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { subresourceGroup, virtualMachineInstances, type VirtualMachineInstance } from "@polyvirt/api";
import type { Pod, UserInfo } from "@polyvirt/api/k8s";
import { hasCode, isJsonObject, jsonEqual, type Logger } from "@polyvirt/core";
import type { Informer, KubeClient } from "@polyvirt/kube";
import type { CertificateFiles } from "../server/certificates.ts";
import { readOptionalJson, sendJson, verifiedCommonName } from "../server/request.ts";
import { Refusal } from "../server/status.ts";
import { authorize } from "./authorize.ts";
import { checkCommand, slowCommands } from "./commands.ts";
import { discoveryDocument, subresourceVersions } from "./discovery.ts";
import { authenticate, type FrontProxyRules } from "./front-proxy.ts";
import {
  askHandler,
  handlerAddress,
  handlerPath,
  sendCommand,
  spliceUpgrade,
  type HandlerAnswer,
  type HandlerTarget,
} from "./handler-connection.ts";
import { forwardPort, guestPort } from "./port-forward.ts";
import { checkQuestion } from "./questions.ts";
import { clusterRoutes, matchRoute, type RouteMatch } from "./routes.ts";
import { checkStream } from "./streams.ts";
import { unserved } from "./unserved.ts";
import { changeVolumes, isVolumeRequest } from "./volume-requests.ts";
import { versionDocument } from "./version.ts";

export interface SubresourceDeps {
  readonly client: Pick<KubeClient, "get" | "create" | "patch">;
  readonly handlers: Pick<Informer<Pod>, "byIndex">;
  readonly frontProxyRules: () => FrontProxyRules | undefined;
  readonly handlerCertificates: () => CertificateFiles;
  /** Differs from the fixed one only in tests. */
  readonly handlerPort?: number;
  readonly version: string;
  readonly architecture: string;
  readonly logger: Logger;
}

/** Longer than virt-handler and the launcher wait. */
const slowCommandMs = 65_000;

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
  if (!match.route.served) throw unserved(`${match.route.resource}/${match.route.subresource}`);
  if (match.route.stream) throw new Refusal(400, `${match.route.subresource} is a stream: connect with a WebSocket`);
  if (match.route.method === "GET") {
    const { type, body } = await answerQuestion(match, queryOf(request), deps);
    return void response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
  }
  const options = await readOptionalJson(request);
  if (isVolumeRequest(match.route.subresource)) {
    const vmi = await findInstance(deps.client, match.namespace, match.name);
    await changeVolumes(deps.client, match.route.subresource, vmi, options);
    const said = { user: user.username, request: match.route.subresource, vmi: keyOf(match) };
    deps.logger.info("changed the volumes of a guest", said);
    return void response.writeHead(202).end();
  }
  await runCommand(match, options, deps);
  deps.logger.info("passed a command on", { user: user.username, command: match.route.subresource, vmi: keyOf(match) });
  response.writeHead(200).end();
}

/** Something to know about a running guest. */
async function answerQuestion(
  match: RouteMatch,
  query: URLSearchParams,
  deps: SubresourceDeps,
): Promise<HandlerAnswer> {
  const { namespace, name, route } = match;
  const vmi = await findInstance(deps.client, namespace, name);
  const passed = checkQuestion(route.subresource, vmi, query).toString();
  const target = targetOf(vmi, match, deps);
  return await askHandler(passed === "" ? target : { ...target, path: `${target.path}?${passed}` });
}

function queryOf({ url }: IncomingMessage): URLSearchParams {
  return new URL(url ?? "/", "https://virt-api").searchParams;
}

/** A command for a running guest. A dry run ends where the guest would notice. */
async function runCommand(match: RouteMatch, options: unknown, deps: SubresourceDeps): Promise<void> {
  const { namespace, name, route } = match;
  const vmi = await findInstance(deps.client, namespace, name);
  checkCommand(route.subresource, vmi);
  const target = targetOf(vmi, match, deps);
  if (isJsonObject(options) && jsonEqual(options["dryRun"], ["All"])) return;
  const limit = slowCommands.has(route.subresource) ? { limitMs: slowCommandMs } : {};
  await sendCommand({ ...target, ...limit }, JSON.stringify(options ?? {}));
}

function targetOf(
  vmi: VirtualMachineInstance,
  { namespace, name, route }: RouteMatch,
  deps: SubresourceDeps,
): HandlerTarget {
  return {
    address: handlerAddress(vmi, deps.handlers),
    path: handlerPath(namespace, name, route.subresource),
    certificates: deps.handlerCertificates(),
    ...(deps.handlerPort === undefined ? {} : { port: deps.handlerPort }),
  };
}

const keyOf = ({ namespace, name }: RouteMatch): string => `${namespace}/${name}`;

/** Serves the streams: after the checks, the connection belongs to the client and virt-handler, or the guest itself. */
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
  if (route.subresource === "portforward") {
    await forwardPort(request, socket, head, guestPort(vmi, match.parameters));
  } else {
    checkStream(route.subresource, vmi);
    await spliceUpgrade(request, socket, head, targetOf(vmi, match, deps));
  }
  deps.logger.info("opened a stream", { user: user.username, vmi: keyOf(match), stream: route.subresource });
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
