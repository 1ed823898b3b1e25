import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { CredentialSource, KubeConnection } from "./connection.ts";

export interface InClusterOptions {
  /** Values of KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly host: string;
  readonly port: string;
  readonly serviceAccountDir?: string;
  readonly clock: Pick<Clock, "monotonic">;
}

const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";
/** The kubelet replaces the token file long before the old token ends. */
const TOKEN_READ_INTERVAL_MS = 60_000;

/** The connection that every pod gets from its service account. */
export async function inClusterConnection(options: InClusterOptions): Promise<KubeConnection> {
  const directory = options.serviceAccountDir ?? SERVICE_ACCOUNT_DIR;
  const read = async (name: string) => {
    try {
      return await readFile(join(directory, name), "utf8");
    } catch (cause) {
      throw errors.KubeConfigInvalid(
        `read ${join(directory, name)}: the pod has no service account mounted there; set automountServiceAccountToken`,
        { cause, fields: { path: join(directory, name) } },
      );
    }
  };
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    server: `https://${host}:${options.port}`,
    certificateAuthority: await read("ca.crt"),
    namespace: (await read("namespace")).trim(),
    credentials: tokenFile(join(directory, "token"), options.clock),
  };
}

/** A bearer token from a file that someone else rotates. */
export function tokenFile(path: string, clock: Pick<Clock, "monotonic">): CredentialSource {
  let cached: { token: string; at: number } | undefined;
  return {
    async get() {
      if (cached === undefined || clock.monotonic() - cached.at > TOKEN_READ_INTERVAL_MS) {
        try {
          cached = { token: (await readFile(path, "utf8")).trim(), at: clock.monotonic() };
        } catch (cause) {
          throw errors.KubeConfigInvalid(`read token file ${path}`, { cause, fields: { path } });
        }
      }
      return { token: cached.token };
    },
    invalidate() {
      cached = undefined;
    },
  };
}
