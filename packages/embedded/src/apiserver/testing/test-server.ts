import { mkdtempSync, rmSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { silentLogger, systemClock, type Clock } from "@polyvirt/core";
import { createKubeClient, type KubeClient } from "@polyvirt/kube";

import { createApiServer, type ApiServer } from "../create-api-server.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; tests look into it freely. */
  // oxlint-disable-next-line typescript/no-explicit-any -- assertions reach into answers of every kind
  readonly json: any;
}

export interface TestServer {
  readonly directory: string;
  readonly server: ApiServer;
  readonly client: KubeClient;
  /** A plain request with the administrator's certificate, or with what `headers` say. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  clientAs(name: string, groups: readonly string[]): KubeClient;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** An API server of its own for a test: any free port, a directory that is gone afterwards. */
export async function startTestServer(options: { clock?: Clock } = {}): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "apiserver-"));
  const kubeconfig = join(directory, "kubeconfig");
  const clock = options.clock ?? systemClock;
  const start = async (): Promise<ApiServer> => {
    const server = createApiServer({ dataDir: directory, port: 0, logger: silentLogger, clock });
    await server.start();
    server.writeKubeconfig(kubeconfig);
    return server;
  };
  let server = await start();
  const clientAs = (name: string, groups: readonly string[]): KubeClient =>
    createKubeClient({ connection: server.connectionAs(name, groups), clock: systemClock, logger: silentLogger });
  let client = clientAs("admin", ["system:masters"]);
  return {
    directory,
    get server() {
      return server;
    },
    get client() {
      return client;
    },
    clientAs,
    request: (method, path, body, headers) => send(server, method, path, body, headers),
    async restart() {
      await server.stop();
      server = await start();
      client = clientAs("admin", ["system:masters"]);
    },
    async stop() {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function send(
  server: ApiServer,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { certificate, key } = await server.connectionAs("admin", ["system:masters"]).credentials.get();
  const content = body === undefined || Buffer.isBuffer(body) || typeof body === "string" ? body : JSON.stringify(body);
  const anonymous = headers["Authorization"] !== undefined || headers["X-Anonymous"] !== undefined;
  return new Promise((resolve, reject) => {
    const request = httpsRequest(`${server.url}${path}`, {
      method,
      ca: server.certificateAuthority,
      ...(anonymous ? {} : { cert: certificate, key }),
      // Node sends no length by itself when something is deleted.
      headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(content ?? ""), ...headers },
      agent: false,
    });
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        let json: unknown;
        try {
          json = JSON.parse(text);
        } catch {
          json = undefined;
        }
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
      });
    });
    request.end(content);
  });
}
