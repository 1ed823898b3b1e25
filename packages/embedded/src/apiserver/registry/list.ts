import { hasCode } from "@polyvirt/core";

import type { StoredEntry } from "../../store/event-log.ts";
import type { Store } from "../../store/store.ts";
import {
  badRequest,
  expired,
  fieldError,
  invalidOptions,
  notANumber,
  revisionTooLarge,
  type StatusError,
} from "../http/status-error.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { parseFieldSelector } from "./field-selector.ts";
import { labelMatcher } from "./label-selector.ts";
import { decodeStored } from "./object-codec.ts";
import { keyOf, prefixOf, type Resource } from "./resource.ts";

/** Which objects of a resource a request is about. */
export interface Selection {
  readonly resource: Resource;
  readonly namespace: string;
  readonly prefix: string;
  /** Absent when every object below the prefix is meant. */
  readonly matches: ((object: ApiObject) => boolean) | undefined;
}

export function selectionOf(resource: Resource, namespace: string, query: URLSearchParams): Selection {
  const byLabels = labelMatcher(query.get("labelSelector") ?? "");
  const byFields = parseFieldSelector(query.get("fieldSelector") ?? "");
  const known = (object: ApiObject): Record<string, string> => ({
    "metadata.name": object.metadata.name ?? "",
    "metadata.namespace": object.metadata.namespace ?? "",
    ...resource.strategy.fields?.(object),
  });
  const names = byFields === undefined ? undefined : new Set(Object.keys(known({ metadata: {} })));
  for (const { field } of byFields?.requirements ?? []) {
    if (names?.has(field) !== false) continue;
    throw badRequest(
      resource.strategy.fields === undefined
        ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
        : `field label not supported: ${field}`,
    );
  }
  const name = byFields?.requirements.find(({ field, equal }) => field === "metadata.name" && equal)?.value;
  const inNamespace =
    namespace === ""
      ? byFields?.requirements.find(({ field, equal }) => field === "metadata.namespace" && equal)?.value
      : namespace;
  const where = inNamespace ?? "";
  const oneKey = name !== undefined && (where !== "" || !resource.namespaced);
  return {
    resource,
    namespace: where,
    prefix: oneKey ? keyOf(resource, where, name) : prefixOf(resource, where),
    matches:
      byLabels === undefined && byFields === undefined
        ? undefined
        : (object) =>
            (byLabels === undefined || byLabels(object.metadata.labels ?? {})) &&
            (byFields === undefined || byFields.matches(known(object))),
  };
}

export interface ListPage {
  readonly entries: readonly StoredEntry[];
  readonly revision: number;
  readonly continue?: string;
  readonly remaining?: number;
}

interface ContinueToken {
  readonly v: "meta.k8s.io/v1";
  readonly rv: number;
  readonly start: string;
}

const encodeToken = (rv: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv, start } satisfies ContinueToken)).toString("base64url");

function decodeToken(text: string): ContinueToken {
  try {
    const token = JSON.parse(Buffer.from(text, "base64url").toString()) as ContinueToken;
    if (typeof token.rv === "number" && typeof token.start === "string") return token;
  } catch {
    // Falls through to the refusal.
  }
  throw unusableToken("it was not made by this server");
}

const unusableToken = (why: string): StatusError =>
  badRequest(`invalid continue token: continue key is not valid: ${why}`);

/** One page of a list. All pages of one list show the state at one revision, as long as history reaches back. */
export function listPage(store: Store, selection: Selection, query: URLSearchParams): ListPage {
  const limit = Number(query.get("limit") ?? 0);
  if (!Number.isInteger(limit))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(query.get("limit"))}: invalid syntax`);
  const text = query.get("continue") ?? "";
  const token = text === "" ? undefined : decodeToken(text);
  // A place outside the selection would show what the asker was not allowed to list.
  if (token !== undefined && !token.start.startsWith(selection.prefix)) throw unusableToken(token.start);
  const revision = token === undefined ? askedRevision(store, query) : token.rv > 0 ? token.rv : undefined;
  const wanted = limit <= 0 ? Number.POSITIVE_INFINITY : limit;
  const entries: StoredEntry[] = [];
  let after = token?.start;
  for (;;) {
    const page = rangeAt(
      store,
      selection,
      { after, limit: limit <= 0 ? undefined : chunk(selection, wanted - entries.length), revision },
      token,
    );
    for (const entry of page.entries) {
      after = entry.key;
      if (selection.matches === undefined || selection.matches(decodeStored(selection.resource, entry.value)))
        entries.push(entry);
      if (entries.length === wanted) break;
    }
    const last = page.entries.at(-1);
    const more = page.more || (last !== undefined && after !== undefined && last.key > after);
    if (!more) return { entries, revision: page.revision };
    if (entries.length >= wanted && after !== undefined) {
      return {
        entries,
        revision: page.revision,
        continue: encodeToken(page.revision, after),
        ...(selection.matches === undefined ? { remaining: Math.max(0, remainingCount(store, selection, after)) } : {}),
      };
    }
  }
}

/** With a selector most entries may not match, so more are read at once than are wanted. */
const chunk = (selection: Selection, missing: number): number =>
  selection.matches === undefined ? missing : Math.max(missing, 500);

function remainingCount(store: Store, selection: Selection, after: string): number {
  return store.count(selection.prefix) - store.countUpTo(selection.prefix, after);
}

const versionMatches = ["Exact", "NotOlderThan", ""];

function checkVersionMatch(version: string, match: string): void {
  const field = "resourceVersionMatch";
  const refuse = (detail: string) => invalidOptions("ListOptions", fieldError.forbidden(field, detail));
  if (match !== "" && version === "") throw refuse(`${field} is forbidden unless resourceVersion is provided`);
  if (!versionMatches.includes(match))
    throw invalidOptions("ListOptions", fieldError.notSupported(field, match, versionMatches));
  if (match === "Exact" && version === "0") throw refuse(`${field} "exact" is forbidden for resourceVersion "0"`);
}

function askedRevision(store: Store, query: URLSearchParams): number | undefined {
  const text = query.get("resourceVersion") ?? "";
  checkVersionMatch(text, query.get("resourceVersionMatch") ?? "");
  if (text === "" || text === "0") return undefined;
  if (!/^\d+$/.test(text))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${notANumber(text)}`,
    );
  const asked = Number(text);
  if (asked > store.revision) throw revisionTooLarge(asked, store.revision);
  return query.get("resourceVersionMatch") === "Exact" ? asked : undefined;
}

interface PageOptions {
  readonly after: string | undefined;
  readonly limit: number | undefined;
  readonly revision: number | undefined;
}

function rangeAt(
  store: Store,
  { prefix }: Selection,
  { after, limit, revision }: PageOptions,
  token: ContinueToken | undefined,
) {
  try {
    return store.range(prefix, {
      ...(after === undefined ? {} : { after }),
      ...(limit === undefined ? {} : { limit }),
      ...(revision === undefined ? {} : { revision }),
    });
  } catch (error) {
    if (!hasCode(error, "StoreCompacted")) throw error;
    if (token === undefined) throw expired(`The resourceVersion for the provided list is too old.`);
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      encodeToken(-1, token.start),
    );
  }
}
