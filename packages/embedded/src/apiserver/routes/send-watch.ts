import { hasCode } from "@polyvirt/core";

import { badRequest, expired, fieldError, invalidOptions, notANumber } from "../http/status-error.ts";
import { isTrue } from "../http/request-info.ts";
import { selectionOf } from "../registry/list.ts";
import { WatchSession } from "../registry/watch.ts";
import { includeOf } from "./include-object.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";

const defaultTimeoutSeconds = 1800;

export function sendWatch({ store, clock, frames }: ResourceDeps, call: Call): void {
  const { exchange, resource, namespace, format, target } = call;
  const { query } = exchange;
  if (target.name !== "" && !query.has("fieldSelector")) query.set("fieldSelector", `metadata.name=${target.name}`);
  const selection = selectionOf(resource, namespace, query);
  const initialEvents = query.get("sendInitialEvents");
  const version = query.get("resourceVersion") ?? "";
  if (initialEvents !== null && query.get("resourceVersionMatch") !== "NotOlderThan") {
    const detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    throw invalidOptions("ListOptions", fieldError.forbidden("resourceVersionMatch", detail));
  }
  if (version !== "" && !/^\d+$/.test(version))
    throw badRequest(`Invalid value: ${JSON.stringify(version)}: ${notANumber(version)}`);
  const fromNow = version === "" || version === "0" || isTrue(initialEvents);
  const since = initialEvents === "false" && version === "" ? store.revision : fromNow ? undefined : Number(version);
  const seconds = Number(query.get("timeoutSeconds") ?? 0);
  const spread = 1 + Math.random();
  try {
    // Asking first: a revision that is gone must be a plain 410, before the stream begins.
    if (since !== undefined && since <= store.revision) store.watch(selection.prefix, since, () => undefined).close();
  } catch (error) {
    if (hasCode(error, "StoreCompacted")) throw expired(`too old resource version: ${version}`);
    throw error;
  }
  const output = exchange.stream("application/json");
  output.socket?.setNoDelay(true);
  const session = new WatchSession({ store, clock }, output, {
    selection,
    frames: frames.get(resource, format, includeOf(query)),
    since: since === undefined ? undefined : Math.min(since, store.revision),
    initialEventsEnd: isTrue(initialEvents),
    bookmarks: isTrue(query.get("allowWatchBookmarks")),
    timeoutMs: (seconds > 0 ? seconds : defaultTimeoutSeconds * spread) * 1000,
  });
  session.start();
}
