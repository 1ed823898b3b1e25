import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";

import { describeError, hasCode, type Logger } from "@polyvirt/core";

import { impersonate } from "../auth/impersonation.ts";
import { userOfCertificate } from "../auth/client-certificate.ts";
import type { Authorizer } from "../auth/rbac.ts";
import type { ServiceAccountTokens } from "../auth/service-account-tokens.ts";
import { anonymous, type UserInfo } from "../auth/user.ts";
import { Exchange } from "./exchange.ts";
import { parseRequest, type RequestInfo } from "./request-info.ts";
import {
  badRequest,
  forbidden,
  internalError,
  noSuchRoute,
  StatusError,
  unauthorized,
  unavailable,
} from "./status-error.ts";

/** Answers a request, or says that it is not its business. */
type Route = (exchange: Exchange) => Promise<boolean> | boolean;

interface RouterDeps {
  readonly logger: Logger;
  readonly authorizer: Authorizer;
  readonly tokens: ServiceAccountTokens;
  readonly routes: readonly Route[];
}

/** Every request takes this way: who asks, may they, who answers; and every failure becomes a Status. */
export class Router {
  readonly #deps: RouterDeps;

  constructor(deps: RouterDeps) {
    this.#deps = deps;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let exchange: Exchange | undefined;
    try {
      const info = readRequest(request);
      exchange = new Exchange(request, response, info, anonymous);
      const user = this.authenticate(request);
      exchange = new Exchange(request, response, info, user);
      this.authorize(info, user);
      for (const route of this.#deps.routes) if (await route(exchange)) return;
      throw noSuchRoute();
    } catch (error) {
      this.#fail(exchange, request, response, error);
    }
  }

  /** Who asks, or whom they act as. */
  authenticate(request: IncomingMessage): UserInfo {
    return impersonate(this.#authenticate(request), request.headers, this.#deps.authorizer);
  }

  #authenticate(request: IncomingMessage): UserInfo {
    const authorization = request.headers.authorization;
    if (authorization !== undefined) {
      const token = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
      const user = token === undefined ? "only bearer tokens are accepted" : this.#deps.tokens.check(token);
      if (typeof user === "string") {
        this.#deps.logger.debug("refused a request", { path: request.url, reason: user });
        throw unauthorized();
      }
      return user;
    }
    // The listener is an https server, so its sockets are TLS sockets.
    const user = userOfCertificate(request.socket as TLSSocket);
    if (user === "invalid") throw unauthorized();
    return user === "none" ? anonymous : user;
  }

  authorize(info: RequestInfo, user: UserInfo): void {
    const { authorizer } = this.#deps;
    const { resource: target, verb, path } = info;
    if (target === undefined) {
      if (authorizer.authorize({ user, verb, path }).allowed) return;
      throw new StatusError(
        403,
        "Forbidden",
        `forbidden: User ${JSON.stringify(user.username)} cannot ${verb} path ${JSON.stringify(path)}`,
        {},
      );
    }
    const { group, namespace, plural, subresource, name } = target;
    const named = name === "" ? nameInSelector(info) : name;
    if (authorizer.authorize({ user, verb, group, namespace, resource: plural, subresource, name: named }).allowed)
      return;
    throw forbidden({ group, plural }, name, describeRefusal(user, verb, target));
  }

  #fail(exchange: Exchange | undefined, request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const status = this.#statusOf(request, error);
    if (exchange === undefined) {
      response.writeHead(status.status.code, { "Content-Type": "application/json" });
      response.end(JSON.stringify(status.status));
    } else if (response.headersSent) {
      response.destroy();
    } else {
      // What is left of a refused body would be read as the next request.
      if (!request.complete) response.setHeader("Connection", "close");
      exchange.sendError(status);
    }
  }

  #statusOf(request: IncomingMessage, error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    if (hasCode(error, "StoreDiskFull") || hasCode(error, "StoreWriteFailed") || hasCode(error, "StoreClosed")) {
      this.#deps.logger.error("a write failed", { path: request.url, error: describeError(error) });
      return unavailable(describeError(error));
    }
    this.#deps.logger.error("a request failed unexpectedly", {
      method: request.method,
      path: request.url,
      error: describeError(error),
      stack: error instanceof Error ? error.stack : undefined,
    });
    return internalError(describeError(error));
  }
}

function readRequest(request: IncomingMessage): RequestInfo {
  try {
    return parseRequest(request.method ?? "GET", request.url ?? "/");
  } catch {
    throw badRequest("the request's path is not valid");
  }
}

/** A list of one object by name is allowed like a get of it. */
function nameInSelector({ query }: RequestInfo): string {
  return /(?:^|,)metadata\.name={1,2}([^,]+)/.exec(query.get("fieldSelector") ?? "")?.[1] ?? "";
}

function describeRefusal(
  user: UserInfo,
  verb: string,
  { group, namespace, plural, subresource }: { group: string; namespace: string; plural: string; subresource: string },
): string {
  const resource = subresource === "" ? plural : `${plural}/${subresource}`;
  const scope = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `User ${JSON.stringify(user.username)} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${scope}`;
}
