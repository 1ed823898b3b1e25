import { createServer } from "node:http";
import { errors } from "./errors.ts";

export interface HealthServerOptions {
  readonly host: string;
  readonly port: number;
  /** The process works: when false for long, the kubelet restarts it. */
  readonly isHealthy?: () => boolean;
  /** The process can serve others. */
  readonly isReady: () => boolean;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Answers the kubelet's probes: `/healthz` and `/readyz`. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const checks: Readonly<Record<string, () => boolean>> = {
    "/healthz": options.isHealthy ?? (() => true),
    "/readyz": options.isReady,
  };
  const server = createServer((request, response) => {
    const check = checks[request.url ?? ""];
    if (check === undefined) response.writeHead(404).end("not found\n");
    else if (check()) response.writeHead(200).end("ok\n");
    else response.writeHead(503).end("not ready\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(errors.KubeHealthPortTaken(`serve probes on ${options.host}:${options.port}`, { cause })),
    );
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
