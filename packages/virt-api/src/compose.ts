import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { kubeVirts, labels, virtualMachineInstancePresets } from "@polyvirt/api";
import { configMaps, pods } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import type { Architecture, ClusterConfig, HypervisorRegistry } from "@polyvirt/hypervisor";
import { createInformer, type KubeClient } from "@polyvirt/kube";
import type { AdmissionContext } from "./admission/admission.ts";
import { answerReview, isWebhookPath } from "./admission/webhooks.ts";
import { createClusterSettings } from "./cluster-settings.ts";
import { followCertificates, type CertificateFiles } from "./server/certificates.ts";
import { startHttpsServer, type HttpsServer, type ServerIdentity } from "./server/https-server.ts";
import { readJson, sendJson } from "./server/request.ts";
import { Refusal } from "./server/status.ts";
import { frontProxyConfigMap, readFrontProxyRules, type FrontProxyRules } from "./subresources/front-proxy.ts";
import { byNode } from "./subresources/handler-connection.ts";
import { isSubresourcePath, serveStream, serveSubresource, type SubresourceDeps } from "./subresources/subresources.ts";

export interface VirtApiDeps {
  readonly client: Pick<KubeClient, "list" | "watch" | "get" | "create" | "patch">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hypervisors: HypervisorRegistry;
  /** Where Polyvirt is installed. */
  readonly namespace: string;
  readonly address: string;
  readonly port: number;
  /** Folder with what virt-api shows to the API server. */
  readonly serverCertificates: string;
  /** Folder with what virt-api shows to virt-handler. */
  readonly handlerCertificates: string;
  /** Differs from the fixed one only in tests. */
  readonly handlerPort?: number;
  readonly architecture: Architecture;
  readonly version: string;
}

export interface VirtApi {
  /** Serves until the signal is aborted. `onListening` hears the port once requests are answered. */
  run(signal: AbortSignal, onListening?: (port: number) => void): Promise<void>;
}

const byNamespace = "namespace";

/** Where admission gets what it decides by. */
interface AdmissionSources {
  readonly config: () => ClusterConfig;
  readonly presets: AdmissionContext["presets"];
}

/** How often the API server's published proxy rules are read again. */
const rulesEveryMs = 30_000;

export function composeVirtApi(deps: VirtApiDeps): VirtApi {
  return {
    async run(signal, onListening) {
      const { client, clock, logger } = deps;
      const state = await startState(deps, signal);
      const kubevirtInformer = createInformer(client, kubeVirts, { clock, logger, namespace: deps.namespace });
      const handlers = createInformer(client, pods, {
        clock,
        logger,
        namespace: deps.namespace,
        labelSelector: `${labels.role}=virt-handler`,
        indexes: { [byNode]: ({ spec }) => (spec.nodeName === undefined ? [] : [spec.nodeName]) },
      });
      const presets = createInformer(client, virtualMachineInstancePresets, {
        clock,
        logger,
        indexes: { [byNamespace]: ({ metadata }) => [metadata.namespace ?? ""] },
      });
      const informers = [kubevirtInformer, handlers, presets];
      for (const informer of informers) informer.start(signal);
      await Promise.all(informers.map((informer) => informer.synced()));
      const subresources: SubresourceDeps = {
        ...pick(deps),
        client,
        logger,
        handlers,
        frontProxyRules: () => state.rules,
        handlerCertificates: () => state.handlerCertificates,
      };
      const admission: AdmissionSources = {
        config: createClusterSettings(kubevirtInformer, deps.namespace, deps.architecture),
        presets: (namespace) => presets.byIndex(byNamespace, namespace),
      };
      const server = await serve(deps, state, admission, subresources);
      state.server = server;
      logger.info("virt-api serves", { address: deps.address, port: server.port });
      onListening?.(server.port);
      await aborted(signal);
      await server.close();
    },
  };
}

function pick({ version, architecture, handlerPort }: VirtApiDeps) {
  return { version, architecture, ...(handlerPort === undefined ? {} : { handlerPort }) };
}

/** What changes while we run: certificates and the rules by which the API server is recognised. */
interface State {
  certificates: CertificateFiles;
  handlerCertificates: CertificateFiles;
  rules: FrontProxyRules | undefined;
  server: HttpsServer | undefined;
}

async function startState(deps: VirtApiDeps, signal: AbortSignal): Promise<State> {
  const { clock, logger } = deps;
  const state: Partial<State> & Pick<State, "server" | "rules"> = { server: undefined, rules: undefined };
  const refresh = (): void => {
    if (state.certificates !== undefined) state.server?.setIdentity(identityOf(state.certificates, state.rules));
  };
  state.certificates = await followCertificates(deps.serverCertificates, {
    clock,
    logger,
    signal,
    onChange(files) {
      state.certificates = files;
      refresh();
    },
  });
  state.handlerCertificates = await followCertificates(deps.handlerCertificates, {
    clock,
    logger,
    signal,
    onChange(files) {
      state.handlerCertificates = files;
    },
  });
  const readRules = async (): Promise<void> => {
    try {
      const map = await deps.client.get(configMaps, frontProxyConfigMap.name, frontProxyConfigMap.namespace);
      const next = readFrontProxyRules(map);
      const changed = next?.authorities !== state.rules?.authorities;
      state.rules = next;
      if (changed) refresh();
    } catch (error) {
      logger.warn("cannot read how the API server proves itself; subresources stay closed until then", {
        error: describeError(error),
      });
    }
  };
  await readRules();
  repeat(clock, signal, rulesEveryMs, readRules);
  // Both certificates were assigned above.
  return state as State;
}

function repeat(clock: Clock, signal: AbortSignal, everyMs: number, action: () => Promise<void>): void {
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(everyMs, signal);
      await action();
    }
  };
  loop().catch(() => {
    // The sleep rejects only when we are asked to stop.
  });
}

function identityOf({ certificate, key }: CertificateFiles, rules: FrontProxyRules | undefined): ServerIdentity {
  return { certificate, key, clientAuthorities: rules?.authorities };
}

function serve(
  deps: VirtApiDeps,
  state: State,
  { config, presets }: AdmissionSources,
  subresources: SubresourceDeps,
): Promise<HttpsServer> {
  const admit = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "POST") throw new Refusal(405, "a webhook is called with POST");
    const review = answerReview(path, await readJson(request), {
      hypervisors: deps.hypervisors,
      config: config(),
      presets,
      namespace: deps.namespace,
      now: () => deps.clock.now(),
      randomUuid: randomUUID,
    });
    sendJson(response, 200, review);
  };
  return startHttpsServer({
    address: deps.address,
    port: deps.port,
    logger: deps.logger,
    identity: identityOf(state.certificates, state.rules),
    handlers: {
      async request(request, response) {
        const path = pathOf(request);
        if (path === "/healthz") sendJson(response, 200, { status: "ok" });
        else if (isWebhookPath(path)) await admit(path, request, response);
        else if (isSubresourcePath(path)) await serveSubresource(request, response, path, subresources);
        else throw new Refusal(404, "the server could not find the requested resource");
      },
      upgrade: (request, socket, head) => serveStream(request, socket, head, pathOf(request), subresources),
    },
  });
}

function pathOf({ url }: IncomingMessage): string {
  const path = new URL(url ?? "/", "https://virt-api").pathname;
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
