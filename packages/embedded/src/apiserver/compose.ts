/** Where the API server's parts are put together. Read this to see what there is; each part knows only what it is given. */
import type { Clock, Logger } from "@polyvirt/core";

import type { Store } from "../store/store.ts";
import { chainAdmission, type Admission } from "./admission/admission.ts";
import { namespaceLifecycle } from "./admission/namespace-lifecycle.ts";
import { podAdmission, serviceAccountAdmission } from "./admission/service-account.ts";
import { RbacAuthorizer } from "./auth/rbac.ts";
import { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
import { bootstrap } from "./bootstrap.ts";
import { startCrdRegistrar } from "./crd/crd-registrar.ts";
import { CrdStatus } from "./crd/crd-status.ts";
import { EventExpiry } from "./housekeeping/event-expiry.ts";
import { GarbageCollector } from "./housekeeping/garbage-collector.ts";
import { NamespaceCleaner } from "./housekeeping/namespace-cleaner.ts";
import { NamespaceFurniture } from "./housekeeping/namespace-furniture.ts";
import { Router } from "./http/router.ts";
import { UpgradeRouter } from "./http/upgrade-router.ts";
import { builtinKinds } from "./kinds/index.ts";
import { openApiRoute } from "./openapi/openapi-route.ts";
import type { Pki } from "./pki.ts";
import { Deletion } from "./registry/deletion.ts";
import { Objects } from "./registry/objects.ts";
import { builtinResource, type Resource } from "./registry/resource.ts";
import { ResourceRegistry } from "./registry/resource-registry.ts";
import { WatchFramesCache } from "./registry/watch-frames.ts";
import { Discovery } from "./routes/discovery.ts";
import { healthRoute } from "./routes/health.ts";
import { podBinding } from "./routes/pod-binding.ts";
import { podEviction } from "./routes/pod-eviction.ts";
import { resourceRoute } from "./routes/resource-route.ts";
import { accessReviews } from "./routes/reviews.ts";
import { scaleSubresource } from "./routes/scale.ts";
import { tokenRequest } from "./routes/token-request.ts";

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
  /** Starts the background work, once requests can be served. */
  begin(): void;
  end(): void;
  closeStore(): Promise<void>;
}

export async function composeServer(parts: ServerParts): Promise<RunningServer> {
  const { store, clock, logger, pki } = parts;
  const registry = new ResourceRegistry(builtinKinds.map((kind) => builtinResource(kind)));
  const builtin = (group: string, plural: string): Resource => {
    const found = registry.find(group, "v1", plural);
    if (found === undefined) throw new Error(`no built-in resource ${plural} in group "${group}"`);
    return found;
  };
  let admission: Admission = chainAdmission([]);
  const objects = new Objects({ store, clock, admission: () => admission });
  const deletion = new Deletion({ store, clock, admission: () => admission });
  const definitions = builtin("apiextensions.k8s.io", "customresourcedefinitions");
  startCrdRegistrar({ store, registry, definitions });

  const authorizer = new RbacAuthorizer(store);
  const tokens = new ServiceAccountTokens(pki.tokenKey, clock, (plural, namespace, name, uid) => {
    return objects.find(builtin("", plural), namespace, name)?.metadata.uid === uid;
  });
  await bootstrap(objects, registry);
  admission = chainAdmission([
    namespaceLifecycle(objects, builtin("", "namespaces")),
    serviceAccountAdmission(objects, builtin("", "serviceaccounts")),
    podAdmission(objects, builtin("scheduling.k8s.io", "priorityclasses")),
  ]);

  const background = { store, registry, objects, deletion, clock, logger };
  const furniture = new NamespaceFurniture({
    ...background,
    namespaces: builtin("", "namespaces"),
    serviceAccounts: builtin("", "serviceaccounts"),
    configMaps: builtin("", "configmaps"),
    certificateAuthority: pki.authority.certificate,
  });
  await furniture.start();
  const workers = [
    new CrdStatus({ ...background, definitions }),
    new GarbageCollector(background),
    new NamespaceCleaner({ ...background, namespaces: builtin("", "namespaces") }),
    new EventExpiry({ ...background, ttlSeconds: parts.eventTtlSeconds }),
  ];

  const deps = { store, clock, objects, deletion, frames: new WatchFramesCache(() => clock.now()) };
  const discovery = new Discovery({ registry, aggregated: () => [], address: () => parts.address() });
  const resources = resourceRoute({
    ...deps,
    registry,
    reviews: accessReviews({ authorizer, tokens }),
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
    },
  });
  const router = new Router({
    logger,
    authorizer,
    tokens,
    routes: [healthRoute(() => true), (exchange) => discovery.handle(exchange), openApiRoute(registry), resources],
  });
  return {
    router,
    upgrades: new UpgradeRouter({ router, logger, routes: [] }),
    begin() {
      for (const worker of workers) worker.start();
    },
    end() {
      for (const worker of [...workers, furniture]) worker.stop();
    },
    closeStore: () => store.close(),
  };
}
