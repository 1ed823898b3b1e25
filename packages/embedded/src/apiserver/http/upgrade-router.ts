import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

import { describeError, type Logger } from "@polyvirt/core";

import type { UserInfo } from "../auth/user.ts";
import { parseRequest, type RequestInfo } from "./request-info.ts";
import type { Router } from "./router.ts";
import { internalError, noSuchRoute, StatusError } from "./status-error.ts";

/** A request that wants to become another protocol: exec, port-forward, a console. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly info: RequestInfo;
  readonly user: UserInfo;
}

/** Takes the connection over, or says that it is not its business. */
export type UpgradeRoute = (upgrade: Upgrade) => Promise<boolean>;

interface UpgradeDeps {
  readonly router: Pick<Router, "authenticate" | "authorize">;
  readonly logger: Logger;
  readonly routes: readonly UpgradeRoute[];
}

export class UpgradeRouter {
  readonly #deps: UpgradeDeps;

  constructor(deps: UpgradeDeps) {
    this.#deps = deps;
  }

  async handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    try {
      const info = parseRequest(request.method ?? "GET", request.url ?? "/");
      const user = this.#deps.router.authenticate(request);
      this.#deps.router.authorize(info, user);
      for (const route of this.#deps.routes) if (await route({ request, socket, head, info, user })) return;
      throw noSuchRoute();
    } catch (error) {
      if (!(error instanceof StatusError)) {
        this.#deps.logger.error("an upgrade failed unexpectedly", { path: request.url, error: describeError(error) });
      }
      refuseUpgrade(socket, error instanceof StatusError ? error : internalError(describeError(error)));
    }
  }
}

/** Answers on the bare connection as an ordinary HTTP failure. */
export function refuseUpgrade(socket: Duplex, { status }: StatusError): void {
  const body = Buffer.from(JSON.stringify(status));
  const head = [
    `HTTP/1.1 ${status.code} ${status.reason ?? "Error"}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]));
}
