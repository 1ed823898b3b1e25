import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { systemClock, type Clock, type Logger } from "@polyvirt/core";
import { fixedCredentials, type KeyedCertificate, type KubeConnection } from "@polyvirt/kube";

import { openStore } from "../store/store.ts";
import { listen, type Listener } from "./http/https-listener.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { loadPki, writeSecret, type Pki } from "./pki.ts";
import { composeServer, type RunningServer } from "./compose.ts";

export interface ApiServerOptions {
  /** Everything the cluster keeps lives here: `store/` and `pki/`. */
  readonly dataDir: string;
  /** A loopback address unless the caller knows better. */
  readonly host?: string;
  /** Further addresses by which clients reach the server, for its certificate. */
  readonly certificateAddresses?: readonly string[];
  /** 0: any free port. */
  readonly port: number;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** How long events are kept; one hour unless said otherwise. */
  readonly eventTtlSeconds?: number;
}

export interface ApiServer {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Publishes under which address programs in pods find this server; until then it is the one it listens on. */
  advertise(host: string): Promise<void>;
  /** `https://127.0.0.1:6443`; only after start. */
  readonly url: string;
  readonly port: number;
  /** PEM of the authority that signed the server's and all clients' certificates. */
  readonly certificateAuthority: string;
  /** What a kubelet's own server should present and trust is signed by this authority. */
  readonly authority: KeyedCertificate;
  /** A connection for the `kube` client under the given name and groups, by certificate. */
  connectionAs(commonName: string, organizations: readonly string[]): KubeConnection;
  /** The administrator's kubeconfig. */
  adminKubeconfig(): string;
  /** Writes the administrator's kubeconfig, readable by its owner alone. */
  writeKubeconfig(path: string): void;
}

/** Where a server with this data directory keeps its objects. */
export const storeDirectory = (dataDir: string): string => join(dataDir, "store");

/** A Kubernetes API server on a directory. Nothing is opened before `start`. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const clock = options.clock ?? systemClock;
  const host = options.host ?? "127.0.0.1";
  let running: { listener: Listener; server: RunningServer; pki: Pki } | undefined;

  const started = (): { listener: Listener; server: RunningServer; pki: Pki } => {
    if (running === undefined) throw new Error("the API server was asked before it was started");
    return running;
  };
  const url = (): string => `https://${host.includes(":") ? `[${host}]` : host}:${started().listener.port}`;
  const adminKubeconfig = (): string => {
    const { pki } = started();
    return kubeconfigText({ server: url(), authority: pki.authority.certificate, client: pki.admin });
  };

  return {
    async start() {
      mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
      const store = await openStore({ path: storeDirectory(options.dataDir) });
      try {
        const pki = loadPki(join(options.dataDir, "pki"), new Date(clock.now()), [
          host,
          ...(options.certificateAddresses ?? []),
        ]);
        let address = "";
        const server = await composeServer({
          store,
          pki,
          clock,
          logger: options.logger,
          eventTtlSeconds: options.eventTtlSeconds ?? 3600,
          address: () => address,
        });
        const listener = await listen({
          host,
          port: options.port,
          certificate: pki.server.certificate,
          key: pki.server.key,
          clientAuthority: pki.authority.certificate,
          handle: (request, response) => void server.router.handle(request, response),
          upgrade: (request, socket, head) => void server.upgrades.handle(request, socket, head),
        });
        address = `${host}:${listener.port}`;
        running = { listener, server, pki };
        await server.advertise();
        server.begin();
      } catch (error) {
        await store.close();
        throw error;
      }
    },
    async stop() {
      if (running === undefined) return;
      const { listener, server } = running;
      running = undefined;
      server.end();
      await listener.close();
      await server.closeStore();
    },
    advertise: (advertised) => started().server.advertise(advertised),
    get url() {
      return url();
    },
    get port() {
      return started().listener.port;
    },
    get certificateAuthority() {
      return started().pki.authority.certificate;
    },
    get authority() {
      return started().pki.authority;
    },
    connectionAs(commonName, organizations) {
      const { pki } = started();
      const { certificate, key } = pki.issueClient(commonName, organizations);
      return {
        server: url(),
        certificateAuthority: pki.authority.certificate,
        credentials: fixedCredentials({ certificate, key }),
        namespace: "default",
      };
    },
    adminKubeconfig,
    writeKubeconfig: (path) => writeSecret(path, adminKubeconfig()),
  };
}
