import type { IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import { apiVersionOf, type KubeObject, type ResourceType, type Status } from "@polyvirt/api/k8s";
import { KubeStatusError, errorOfStatus, errors } from "../errors.ts";
import { createBackoff } from "../backoff.ts";
import { describeTarget, resourcePath, withQuery } from "./resource-path.ts";
import type { SendOptions } from "./transport.ts";

export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject };

export interface WatchOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Where to begin; without it the current objects come first as ADDED. */
  readonly resourceVersion?: string;
  /** Also yield bookmarks, which carry only a resource version. */
  readonly bookmarks?: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface WatchDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  open(path: string, init: SendOptions): Promise<IncomingMessage>;
}

/** The server ends a watch after this long; the spread keeps many watches from coming back at once. */
const SERVER_TIMEOUT_SECONDS = { min: 300, spread: 300 };
/** Bookmarks come about once a minute. A connection that is silent for much longer is dead, whatever TCP thinks. */
const SILENCE_LIMIT_MS = 180_000;
const STABLE_AFTER_MS = 5_000;
const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/**
 * Watches until the signal is aborted. Broken, ended and silent connections are replaced, from the last version seen,
 * with back-off while the server cannot be reached. Ends with KubeGone when the server no longer has that version.
 */
export async function* watchResource<T extends KubeObject>(
  deps: WatchDeps,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const backoff = createBackoff({ initialMs: 100, maxMs: 30_000 });
  let resourceVersion = options.resourceVersion;
  while (options.signal?.aborted !== true) {
    const openedAt = deps.clock.monotonic();
    try {
      for await (const event of connectOnce<T>(deps, type, { ...options, ...versionOf(resourceVersion) })) {
        backoff.reset();
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
        if (event.type !== "BOOKMARK" || options.bookmarks === true) yield event;
      }
    } catch (error) {
      if (isAborted(options.signal)) return;
      if (!mayReconnect(error)) throw error;
      deps.logger.debug("a watch broke and will be opened again", { watch: describeTarget(type, options), error });
    }
    if (isAborted(options.signal)) return;
    // The end of a connection that served us for a while is no failure, even when nothing happened meanwhile.
    if (deps.clock.monotonic() - openedAt > STABLE_AFTER_MS) backoff.reset();
    try {
      await deps.clock.sleep(backoff.next(), options.signal);
    } catch {
      return;
    }
  }
}

/** Read anew each time: the signal changes while we wait. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function versionOf(resourceVersion: string | undefined): { resourceVersion?: string } {
  return resourceVersion === undefined ? {} : { resourceVersion };
}

/** Refusals by the server are the caller's to judge; only what may pass by itself is tried again here. */
function mayReconnect(error: unknown): boolean {
  if (error instanceof KubeStatusError) {
    return error.code === "KubeServerError" || error.code === "KubeTooManyRequests" || error.code === "KubeTimeout";
  }
  return hasCode(error, "KubeUnavailable") || hasCode(error, "KubeTimeout");
}

async function* connectOnce<T extends KubeObject>(
  deps: WatchDeps,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const operation = `watch ${describeTarget(type, { namespace: options.namespace })}`;
  const path = withQuery(resourcePath(type, { namespace: options.namespace }), {
    watch: "true",
    allowWatchBookmarks: "true",
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    timeoutSeconds: Math.round(SERVER_TIMEOUT_SECONDS.min + Math.random() * SERVER_TIMEOUT_SECONDS.spread),
  });
  const response = await deps.open(path, options.signal === undefined ? {} : { signal: options.signal });
  const apiVersion = apiVersionOf(type);
  try {
    for await (const line of linesOf(response, deps.clock, operation)) {
      const event = parseEvent<T>(line, operation);
      event.object.apiVersion ??= apiVersion;
      event.object.kind ??= type.kind;
      yield event;
    }
  } finally {
    response.destroy();
  }
}

function parseEvent<T extends KubeObject>(line: string, operation: string): WatchEvent<T> {
  let event: { type?: string; object?: KubeObject | Status };
  try {
    event = JSON.parse(line) as typeof event;
  } catch (cause) {
    throw errors.KubeUnavailable(`${operation}: the server sent an event that is not JSON`, { cause });
  }
  switch (event.type ?? "") {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      // The server sends objects of the watched kind, and bookmarks of that kind without content.
      return event as WatchEvent<T>;
    case "ERROR": {
      const status = event.object as Status;
      throw errorOfStatus(operation, status.code ?? 500, status);
    }
    default:
      throw errors.KubeAnswerUnreadable(`${operation}: unknown event type "${event.type}"`);
  }
}

/** Splits the body into lines; throws when it stays silent for too long. */
async function* linesOf(response: IncomingMessage, clock: Clock, operation: string): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let timer = watchSilence();
  function watchSilence() {
    return clock.setTimer(SILENCE_LIMIT_MS, () =>
      response.destroy(errors.KubeTimeout(`${operation}: nothing received for ${SILENCE_LIMIT_MS / 1000} s`)),
    );
  }
  try {
    for await (const chunk of response) {
      timer.cancel();
      // No encoding is set, so chunks are buffers.
      rest += decoder.write(chunk as Buffer);
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_EVENT_BYTES) throw errors.KubeAnswerUnreadable(`${operation}: an event without end`);
      for (const line of lines) if (line !== "") yield line;
      timer = watchSilence();
    }
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && String(cause.code).startsWith("Kube")) throw cause;
    throw errors.KubeUnavailable(`${operation}: the connection broke`, { cause });
  } finally {
    timer.cancel();
  }
}
