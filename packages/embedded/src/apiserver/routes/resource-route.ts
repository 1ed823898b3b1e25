import type { Exchange } from "../http/exchange.ts";
import { badRequest, methodNotAllowed, noSuchRoute } from "../http/status-error.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import { callOf, type Call, type ResourceDeps } from "./resource-call.ts";
import { handleResource } from "./resource-handlers.ts";

export type SubresourceHandler = (call: Call, verb: string) => Promise<void> | void;

interface RouteDeps extends ResourceDeps {
  readonly registry: ResourceRegistry;
  /** Kinds that are answered and not stored, by plural. */
  readonly reviews: Readonly<Record<string, (call: Call) => Promise<void> | void>>;
  readonly subresources: Readonly<Record<string, SubresourceHandler>>;
}

const statusVerbs = new Set(["get", "update", "patch"]);

/** Everything below /api/v1 and /apis/GROUP/VERSION that this server itself serves. */
export function resourceRoute(deps: RouteDeps): (exchange: Exchange) => Promise<boolean> {
  return async (exchange) => {
    const target = exchange.info.resource;
    if (target === undefined) return false;
    const resource = deps.registry.find(target.group, target.version, target.plural);
    if (resource === undefined) return false;
    if (!resource.namespaced && target.namespace !== "" && target.plural !== "namespaces") throw noSuchRoute();
    const call = callOf(exchange, resource, target);
    if (resource.deprecation !== undefined) exchange.warn(resource.deprecation);
    const { verb } = exchange.info;
    if (resource.virtual) {
      const review = deps.reviews[resource.plural];
      if (review === undefined || verb !== "create") throw methodNotAllowed();
      await review(call);
    } else if (target.subresource === "") {
      await handleResource(deps, call, verb);
    } else {
      await handleSubresource(deps, call, verb);
    }
    return true;
  };
}

async function handleSubresource(deps: RouteDeps, call: Call, verb: string): Promise<void> {
  const { resource, target, namespace } = call;
  const { subresource } = target;
  if (!resource.subresources.has(subresource)) throw noSuchRoute();
  if (resource.namespaced && namespace === "") throw badRequest("namespace is required");
  if (subresource === "status" || subresource === "finalize" || subresource === "ephemeralcontainers") {
    if (!statusVerbs.has(verb)) throw methodNotAllowed();
    return handleResource(deps, call, verb);
  }
  const handler = deps.subresources[subresource];
  if (handler === undefined) throw noSuchRoute();
  await handler(call, verb);
}
