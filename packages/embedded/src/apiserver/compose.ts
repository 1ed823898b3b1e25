/** Where the API server's parts are put together. Read this to see what there is; each part knows only what it is given. */
import type { Clock, Logger } from "@polyvirt/core";

import type { Store } from "../store/store.ts";
import { chainAdmission, type Admission } from "./admission/admission.ts";
import { defaultStorageClass } from "./admission/default-storage-class.ts";
import { namespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { nodeRestriction } from "./admission/node-restriction.ts";
import { policyAdmission } from "./admission/policy-admission.ts";
import { mutatingPolicies, validatingPolicies } from "./admission/policy-list.ts";
import { podAdmission, serviceAccountAdmission } from "./admission/service-account.ts";
import { rbacEscalation } from "./admission/rbac-escalation.ts";
import { webhookAdmission } from "./admission/webhook-admission.ts";
import { createWebhookClient, type WebhookClient } from "./admission/webhook-client.ts";
import { WebhookList } from "./admission/webhook-config.ts";
import { Aggregator } from "./aggregation/aggregator.ts";
import { RbacAuthorizer, type Authorizer } from "./auth/rbac.ts";
import { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
import { bootstrap } from "./bootstrap.ts";
import { startCrdRegistrar } from "./crd/crd-registrar.ts";
import { CrdStatus } from "./crd/crd-status.ts";
import { EventExpiry } from "./housekeeping/event-expiry.ts";
import { GarbageCollector } from "./housekeeping/garbage-collector.ts";
import { NamespaceCleaner } from "./housekeeping/namespace-cleaner.ts";
import { NamespaceFurniture } from "./housekeeping/namespace-furniture.ts";
import { RoleAggregator } from "./housekeeping/role-aggregator.ts";
import { Router } from "./http/router.ts";
import { UpgradeRouter } from "./http/upgrade-router.ts";
import { builtinKinds } from "./kinds/index.ts";
import { openApiRoute } from "./openapi/openapi-route.ts";
import { publishOwnService } from "./own-service.ts";
import type { Pki } from "./pki.ts";
import { ServiceResolver } from "./proxy/service-resolver.ts";
import { Deletion } from "./registry/deletion.ts";
import { ObjectUids } from "./registry/object-uids.ts";
import { Objects } from "./registry/objects.ts";
import { builtinResource, type Resource } from "./registry/resource.ts";
import { ResourceRegistry } from "./registry/resource-registry.ts";
import { WatchFramesCache } from "./registry/watch-frames.ts";
import { Discovery } from "./routes/discovery.ts";
import { healthRoute } from "./routes/health.ts";
import { KubeletProxy } from "./routes/kubelet-proxy.ts";
import { podBinding } from "./routes/pod-binding.ts";
import { podEviction } from "./routes/pod-eviction.ts";
import { resourceRoute } from "./routes/resource-route.ts";
import { accessReviews } from "./routes/reviews.ts";
import { scaleSubresource } from "./routes/scale.ts";
import { tokenRequest } from "./routes/token-request.ts";

const rbac = "rbac.authorization.k8s.io";

interface ServerParts {
  readonly store: Store;
  readonly pki: Pki;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly eventTtlSeconds: number;
  address(): string;
}

export interface RunningServer {
  readonly router: Router;
  readonly upgrades: UpgradeRouter;
  /** Publishes under which address programs in pods find this server; its own unless another is given. */
  advertise(host?: string): Promise<void>;
  /** Starts the background work, once requests can be served. */
  begin(): void;
  end(): void;
  closeStore(): Promise<void>;
}

/** What most parts build on. */
interface Foundation {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: ResourceRegistry;
  readonly objects: Objects;
  readonly deletion: Deletion;
  readonly resolver: ServiceResolver;
  /** A built-in resource; there is one for every name this file asks for. */
  readonly builtin: (group: string, plural: string) => Resource;
  setAdmission(admission: Admission): void;
}

export async function composeServer(parts: ServerParts): Promise<RunningServer> {
  const foundation = layFoundation(parts);
  const { store, clock, logger, registry, objects, deletion, resolver, builtin } = foundation;
  startCrdRegistrar({ store, registry, definitions: builtin("apiextensions.k8s.io", "customresourcedefinitions") });
  const authorizer = new RbacAuthorizer(store);
  const uids = new ObjectUids(store);
  const tokens = new ServiceAccountTokens(parts.pki.tokenKey, clock, (plural, namespace, name, uid) => {
    return uids.find(builtin("", plural), namespace, name) === uid;
  });
  await bootstrap(objects, registry, parts.pki);
  const webhookClient = createWebhookClient(resolver);
  foundation.setAdmission(composeAdmission(foundation, authorizer, webhookClient));
  const aggregator = new Aggregator({
    ...foundation,
    apiServices: builtin("apiregistration.k8s.io", "apiservices"),
    client: parts.pki.frontProxyClient,
  });
  const workers = [...(await composeHousekeeping(foundation, parts)), aggregator];
  const discovery = new Discovery({
    registry,
    aggregated: () => aggregator.versions(),
    address: () => parts.address(),
  });
  const kubelets = new KubeletProxy({
    objects,
    pods: builtin("", "pods"),
    nodes: builtin("", "nodes"),
    client: parts.pki.kubeletClient,
    authority: parts.pki.authority.certificate,
  });
  const deps = { store, clock, objects, deletion, frames: new WatchFramesCache(() => clock.now()) };
  const resources = resourceRoute({
    ...deps,
    registry,
    reviews: accessReviews({ authorizer, tokens, clock }),
    subresources: {
      binding: podBinding(deps),
      eviction: podEviction(deps, builtin("policy", "poddisruptionbudgets")),
      scale: scaleSubresource(deps),
      token: tokenRequest({
        objects,
        tokens,
        bindable: { Pod: builtin("", "pods"), Secret: builtin("", "secrets") },
        nodes: builtin("", "nodes"),
      }),
      log: kubelets.handler("log"),
      exec: kubelets.handler("exec"),
      attach: kubelets.handler("attach"),
      portforward: kubelets.handler("portforward"),
    },
  });
  const routes = [
    healthRoute(() => true),
    (exchange) => aggregator.handle(exchange),
    (exchange) => discovery.handle(exchange),
    openApiRoute(registry),
    resources,
  ] satisfies ConstructorParameters<typeof Router>[0]["routes"];
  const router = new Router({ logger, authorizer, tokens, routes });
  return {
    router,
    upgrades: new UpgradeRouter({
      router,
      logger,
      routes: [(upgrade) => aggregator.upgrade(upgrade), (upgrade) => kubelets.upgrade(upgrade)],
    }),
    async advertise(host) {
      const [own, port] = splitAddress(parts.address());
      await publishOwnService({
        objects,
        services: builtin("", "services"),
        endpointSlices: builtin("discovery.k8s.io", "endpointslices"),
        host: host ?? own,
        port: Number(port),
      });
    },
    begin() {
      for (const worker of workers) worker.start();
    },
    end() {
      for (const worker of workers) worker.stop();
      webhookClient.close();
    },
    closeStore: () => store.close(),
  };
}

/** `127.0.0.1:6443` in its two parts. */
function splitAddress(address: string): [host: string, port: string] {
  const colon = address.lastIndexOf(":");
  return [address.slice(0, colon), address.slice(colon + 1)];
}

function layFoundation({ store, clock, logger }: ServerParts): Foundation {
  const registry = new ResourceRegistry(builtinKinds.map(builtinResource));
  const builtin = (group: string, plural: string): Resource => {
    const found = registry.find(group, "v1", plural);
    if (found === undefined) throw new Error(`no built-in resource ${plural} in group "${group}"`);
    return found;
  };
  let admission: Admission = chainAdmission([]);
  const objects = new Objects({ store, clock, admission: () => admission });
  return {
    store,
    clock,
    logger,
    registry,
    builtin,
    objects,
    deletion: new Deletion({ store, clock, admission: () => admission }),
    resolver: new ServiceResolver({
      store,
      objects,
      services: builtin("", "services"),
      endpointSlices: builtin("discovery.k8s.io", "endpointslices"),
      pods: builtin("", "pods"),
    }),
    setAdmission(chain) {
      admission = chain;
    },
  };
}

function composeAdmission({ builtin, ...rest }: Foundation, authorizer: Authorizer, client: WebhookClient): Admission {
  const { objects, store } = rest;
  const namespaces = builtin("", "namespaces");
  return chainAdmission([
    namespaceLifecycle(objects, namespaces),
    nodeRestriction(objects, builtin("", "pods")),
    serviceAccountAdmission(objects, builtin("", "serviceaccounts")),
    podAdmission(objects, builtin("scheduling.k8s.io", "priorityclasses")),
    defaultStorageClass(objects, builtin("storage.k8s.io", "storageclasses")),
    rbacEscalation({ objects, authorizer, roles: builtin(rbac, "roles"), clusterRoles: builtin(rbac, "clusterroles") }),
    policyAdmission({
      ...rest,
      namespaces,
      authorizer,
      mutating: mutatingPolicies(store),
      validating: validatingPolicies(store),
    }),
    webhookAdmission({
      ...rest,
      namespaces,
      authorizer,
      client,
      mutating: new WebhookList(store, "mutatingwebhookconfigurations.admissionregistration.k8s.io"),
      validating: new WebhookList(store, "validatingwebhookconfigurations.admissionregistration.k8s.io"),
    }),
  ]);
}

interface Worker {
  start(): void;
  stop(): void;
}

async function composeHousekeeping(foundation: Foundation, parts: ServerParts): Promise<Worker[]> {
  const { builtin } = foundation;
  const namespaces = builtin("", "namespaces");
  const furniture = new NamespaceFurniture({
    ...foundation,
    namespaces,
    serviceAccounts: builtin("", "serviceaccounts"),
    configMaps: builtin("", "configmaps"),
    certificateAuthority: parts.pki.authority.certificate,
  });
  // Before the first request: a pod cannot be created in a namespace without its service account.
  await furniture.furnishAll();
  const roleAggregator = new RoleAggregator({ ...foundation, clusterRoles: builtin(rbac, "clusterroles") });
  await roleAggregator.aggregate();
  return [
    furniture,
    new CrdStatus({ ...foundation, definitions: builtin("apiextensions.k8s.io", "customresourcedefinitions") }),
    new GarbageCollector(foundation),
    roleAggregator,
    new NamespaceCleaner({ ...foundation, namespaces }),
    new EventExpiry({ ...foundation, ttlSeconds: parts.eventTtlSeconds }),
  ];
}
