import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { KubeList, KubeObject, ResourceType } from "@polyvirt/api/k8s";
import type { WebSocket } from "ws";
import type { ConnectOptions } from "./connect.ts";
import type { SendOptions } from "./transport.ts";
import type { WatchEvent, WatchOptions } from "./watch.ts";

export interface ListOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** One page of at most this many; without it the whole list, fetched in pages. */
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Ignore" | "Warn" | "Strict";
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}

export interface PatchRequest {
  readonly type: "json" | "merge" | "strategic";
  readonly body: unknown;
  readonly subresource?: string;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

export interface ApplyOptions {
  readonly fieldManager: string;
  readonly force?: boolean;
  readonly subresource?: string;
  readonly dryRun?: boolean;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  json(): unknown;
}

export interface RawOptions extends SendOptions {
  /** Sent as JSON. */
  readonly json?: unknown;
}

export interface KubeClient {
  /** Namespace of the context or service account. */
  readonly namespace: string;
  get<T extends KubeObject>(type: ResourceType<T>, name: string, namespace?: string): Promise<T>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<KubeList<T>>;
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  /** Posts to a subresource: `pods/binding`, `pods/eviction`, `serviceaccounts/token`. */
  createSubresource<R>(
    type: ResourceType,
    target: { readonly name: string; readonly namespace?: string; readonly subresource: string },
    body: object,
  ): Promise<R>;
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    name: string,
    namespace: string | undefined,
    patch: PatchRequest,
  ): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T>;
  delete(type: ResourceType, name: string, namespace?: string, options?: DeleteOptions): Promise<void>;
  deleteCollection(type: ResourceType, options: ListOptions & DeleteOptions): Promise<void>;
  /** Survives broken connections; throws KubeGone when history is lost and the caller must list again. */
  watch<T extends KubeObject>(type: ResourceType<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Any path; throws the typed error of the answer when it is not a success. */
  request(method: string, path: string, options?: RawOptions): Promise<RawResponse>;
  /** As `request`, for a body that is read while it comes (logs). */
  stream(method: string, path: string, options?: RawOptions): Promise<IncomingMessage>;
  /** Opens a WebSocket on a subresource (console, exec, port-forward). */
  connect(path: string, options?: ConnectOptions): Promise<WebSocket>;
  close(): void;
}
