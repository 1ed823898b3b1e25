import type { Clock } from "@polyvirt/core";
import type { Store } from "../../store/store.ts";
import type { Exchange } from "../http/exchange.ts";
import { negotiate, type ResponseFormat } from "../http/media-type.ts";
import type { ResourceRequest } from "../http/request-info.ts";
import type { Deletion } from "../registry/deletion.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { WatchFramesCache } from "../registry/watch-frames.ts";

/** What the handlers of all resources share. */
export interface ResourceDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly objects: Objects;
  readonly deletion: Deletion;
  readonly frames: WatchFramesCache;
}

/** A request for a resource that is served here, after authorization. */
export interface Call {
  readonly exchange: Exchange;
  readonly resource: Resource;
  readonly target: ResourceRequest;
  readonly namespace: string;
  readonly format: ResponseFormat;
}

export function callOf(exchange: Exchange, resource: Resource, target: ResourceRequest): Call {
  const format = negotiate(exchange.request.headers.accept, exchange.query);
  return { exchange, resource, target, namespace: resource.namespaced ? target.namespace : "", format };
}
