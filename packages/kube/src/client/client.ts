import type { IncomingMessage } from "node:http";
import type { Clock, Logger } from "@polyvirt/core";
import { apiVersionOf, type KubeList, type KubeObject, type ResourceType } from "@polyvirt/api/k8s";
import type { WebSocket } from "ws";
import type { KubeConnection } from "../config/connection.ts";
import { parseJson, readBody, statusFrom } from "./answer.ts";
import { errorOfStatus, errors } from "../errors.ts";
import { openWebSocket, type ConnectOptions } from "./connect.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  PatchRequest,
  RawOptions,
  RawResponse,
  WriteOptions,
} from "./kube-client.ts";
import { describeTarget, resourcePath, withQuery, type ResourceTarget } from "./resource-path.ts";
import { createTransport, type SendOptions, type Transport } from "./transport.ts";
import { watchResource, type WatchEvent, type WatchOptions } from "./watch.ts";

export interface KubeClientDeps {
  readonly connection: KubeConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent?: string;
}

const patchContentType = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

const PAGE_SIZE = 500;
/** A server that keeps asking us to wait is given up after this many answers. */
const MAX_THROTTLED = 5;

export function createKubeClient(deps: KubeClientDeps): KubeClient {
  const transport = createTransport({
    connection: deps.connection,
    clock: deps.clock,
    userAgent: deps.userAgent ?? "polyvirt",
  });
  return new TransportClient(transport, deps);
}

class TransportClient implements KubeClient {
  readonly namespace: string;
  readonly #transport: Transport;
  readonly #deps: KubeClientDeps;

  constructor(transport: Transport, deps: KubeClientDeps) {
    this.#transport = transport;
    this.#deps = deps;
    this.namespace = deps.connection.namespace;
  }

  async get<T extends KubeObject>(type: ResourceType<T>, name: string, namespace?: string): Promise<T> {
    return this.#object<T>("get", type, { name, namespace: this.#scope(type, namespace) }, "GET");
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    if (options.limit !== undefined || options.continue !== undefined) return this.#page(type, options);
    const items: T[] = [];
    let token: string | undefined;
    for (;;) {
      const page: KubeList<T> = await this.#page(type, {
        ...options,
        limit: PAGE_SIZE,
        ...(token === undefined ? {} : { continue: token }),
      });
      for (const item of page.items) items.push(item);
      token = page.metadata.continue;
      if (token === undefined || token === "") return { ...page, items };
    }
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const target = { namespace: this.#scope(type, object.metadata.namespace) };
    const shown = { ...target, name: object.metadata.name ?? object.metadata.generateName };
    const path = withQuery(resourcePath(type, target), writeQuery(options));
    return this.#send<T>(`create ${describeTarget(type, shown)}`, "POST", path, { json: typed(type, object) });
  }

  async createSubresource<R>(
    type: ResourceType,
    target: { readonly name: string; readonly namespace?: string; readonly subresource: string },
    body: object,
  ): Promise<R> {
    return this.#send<R>(`create ${describeTarget(type, target)}`, "POST", resourcePath(type, target), { json: body });
  }

  async update<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(type, object, undefined, options);
  }

  async updateStatus<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#put(type, object, "status", options);
  }

  async patch<T extends KubeObject>(
    type: ResourceType<T>,
    name: string,
    namespace: string | undefined,
    patch: PatchRequest,
  ): Promise<T> {
    const target = { name, namespace: this.#scope(type, namespace), subresource: patch.subresource };
    return this.#object<T>("patch", type, target, "PATCH", {
      query: writeQuery(patch),
      json: patch.body,
      contentType: patchContentType[patch.type],
    });
  }

  async apply<T extends KubeObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T> {
    const { managedFields: _, ...metadata } = object.metadata;
    const target = {
      name: nameOf(type, object),
      namespace: this.#scope(type, metadata.namespace),
      subresource: options.subresource,
    };
    return this.#object<T>("apply", type, target, "PATCH", {
      query: { ...writeQuery(options), force: options.force === true ? true : undefined },
      json: { ...typed(type, object), metadata },
      contentType: patchContentType.apply,
    });
  }

  async delete(type: ResourceType, name: string, namespace?: string, options: DeleteOptions = {}): Promise<void> {
    const target = { name, namespace: this.#scope(type, namespace) };
    await this.#object("delete", type, target, "DELETE", { json: deleteBody(options) });
  }

  async deleteCollection(type: ResourceType, options: ListOptions & DeleteOptions): Promise<void> {
    await this.#object("delete collection", type, { namespace: options.namespace }, "DELETE", {
      query: { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector },
      json: deleteBody(options),
    });
  }

  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions = {}): AsyncIterable<WatchEvent<T>> {
    return watchResource<T>({ ...this.#deps, open: (path, init) => this.stream("GET", path, init) }, type, options);
  }

  async request(method: string, path: string, options: RawOptions = {}): Promise<RawResponse> {
    const response = await this.stream(method, path, options);
    const body = await readBody(response, `${method} ${path}`, this.#deps.clock);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body,
      json: () => parseJson(body, `${method} ${path}`),
    };
  }

  async stream(method: string, path: string, options: RawOptions = {}): Promise<IncomingMessage> {
    return this.#checked(`${method} ${path}`, method, path, options);
  }

  async connect(path: string, options: ConnectOptions = {}): Promise<WebSocket> {
    return openWebSocket(this.#transport, path, options);
  }

  close(): void {
    this.#transport.close();
  }

  /** Cluster-scoped kinds have none; namespaced ones default to that of the connection. */
  #scope(type: ResourceType, namespace: string | undefined): string | undefined {
    return type.namespaced ? (namespace ?? this.namespace) : undefined;
  }

  async #page<T extends KubeObject>(type: ResourceType<T>, options: ListOptions): Promise<KubeList<T>> {
    const path = withQuery(resourcePath(type, { namespace: options.namespace }), {
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit,
      continue: options.continue,
      // The token carries the version of the first page; sending both is an error.
      resourceVersion: options.continue === undefined ? options.resourceVersion : undefined,
    });
    const operation = `list ${describeTarget(type, { namespace: options.namespace })}`;
    const list = await this.#send<KubeList<T>>(operation, "GET", path, { signal: options.signal });
    const apiVersion = apiVersionOf(type);
    // Items of a list come without their type, which makes them unfit to be sent back or shown.
    for (const item of (list.items ??= [])) {
      item.apiVersion ??= apiVersion;
      item.kind ??= type.kind;
    }
    return list;
  }

  async #put<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    subresource: string | undefined,
    options: WriteOptions,
  ): Promise<T> {
    const target = {
      name: nameOf(type, object),
      namespace: this.#scope(type, object.metadata.namespace),
      subresource,
    };
    return this.#object<T>("update", type, target, "PUT", { query: writeQuery(options), json: typed(type, object) });
  }

  async #object<T>(
    verb: string,
    type: ResourceType,
    target: ResourceTarget,
    method: string,
    body: { query?: Record<string, string | boolean | undefined>; json?: unknown; contentType?: string } = {},
  ): Promise<T> {
    const path = withQuery(resourcePath(type, target), body.query ?? {});
    return this.#send<T>(`${verb} ${describeTarget(type, target)}`, method, path, {
      ...(body.json === undefined ? {} : { json: body.json }),
      ...(body.contentType === undefined ? {} : { headers: { "content-type": body.contentType } }),
    });
  }

  async #send<T>(operation: string, method: string, path: string, options: RawOptions): Promise<T> {
    const response = await this.#checked(operation, method, path, options);
    const body = await readBody(response, operation, this.#deps.clock);
    // What the server stores under this path has this type; the server validated it.
    return parseJson(body, operation) as T;
  }

  /** Sends, waits when the server asks us to, and throws the typed error when the answer is not a success. */
  async #checked(operation: string, method: string, path: string, options: RawOptions): Promise<IncomingMessage> {
    const { json, ...plain } = options;
    const init: SendOptions =
      json === undefined
        ? plain
        : { ...plain, body: JSON.stringify(json), headers: { "content-type": "application/json", ...plain.headers } };
    for (let attempt = 1; ; attempt++) {
      const response = await this.#transport.send(method, path, init);
      const code = response.statusCode ?? 0;
      if (code >= 200 && code < 300) return response;
      const retryAfter = Number(response.headers["retry-after"]);
      const body = await readBody(response, operation, this.#deps.clock);
      if (code === 429 && Number.isFinite(retryAfter) && attempt < MAX_THROTTLED) {
        this.#deps.logger.debug("the API server asks to wait", { operation, seconds: retryAfter });
        await this.#deps.clock.sleep(retryAfter * 1000, options.signal ?? undefined);
        continue;
      }
      throw errorOfStatus(operation, code, statusFrom(body, code));
    }
  }
}

function typed<T extends KubeObject>(type: ResourceType<T>, object: T): T {
  return { ...object, apiVersion: apiVersionOf(type), kind: type.kind };
}

function nameOf(type: ResourceType, object: KubeObject): string {
  const { name } = object.metadata;
  if (name === undefined || name === "") {
    throw errors.KubeBadRequest(`write ${type.plural}: the object has no metadata.name`);
  }
  return name;
}

function writeQuery(options: WriteOptions): Record<string, string | undefined> {
  return {
    dryRun: options.dryRun === true ? "All" : undefined,
    fieldManager: options.fieldManager,
    fieldValidation: options.fieldValidation,
  };
}

function deleteBody(options: DeleteOptions): object {
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
    ...(options.propagationPolicy === undefined ? {} : { propagationPolicy: options.propagationPolicy }),
    ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
    ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
  };
}
