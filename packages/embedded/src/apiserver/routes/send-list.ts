import { listPage, selectionOf, type ListPage } from "../registry/list.ts";
import { decodeStored, isSentAsStored, startsWith, storedHead } from "../registry/object-codec.ts";
import { partialMetadata, tableOf } from "../registry/table.ts";
import type { JsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "../registry/resource.ts";
import { includeOf } from "./include-object.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";

export function sendList({ store, clock }: Pick<ResourceDeps, "store" | "clock">, call: Call): void {
  const { exchange, resource, namespace, format } = call;
  const page = listPage(store, selectionOf(resource, namespace, exchange.query), exchange.query);
  const metadata = listMetadata(page);
  if (format.as === "object" && format.encoding === "json" && !format.pretty && isSentAsStored(resource)) {
    return sendStored(call, page, metadata);
  }
  const objects = page.entries.map((entry) => decodeStored(resource, entry.value));
  switch (format.as) {
    case "object":
      return exchange.send(200, listOf(resource, metadata, objects), format);
    case "metadata":
      return exchange.send(
        200,
        {
          kind: "PartialObjectMetadataList",
          apiVersion: "meta.k8s.io/v1",
          metadata,
          items: objects.map(partialMetadata),
        },
        format,
      );
    case "table":
      return exchange.send(
        200,
        tableOf(resource, objects, { metadata, include: includeOf(exchange.query), now: clock.now() }),
        format,
      );
  }
}

/** Items of built-in kinds do not repeat what the list says about itself. */
export function listOf(resource: Resource, metadata: JsonObject, objects: readonly ApiObject[]): JsonObject {
  const { listKind: kind, apiVersion, typed } = resource;
  return { kind, apiVersion, metadata, items: typed ? objects.map(withoutIdentity) : objects };
}

function withoutIdentity(object: ApiObject): JsonObject {
  const { apiVersion: _, kind: __, ...item } = object;
  return item;
}

function listMetadata(page: ListPage): JsonObject {
  return {
    resourceVersion: String(page.revision),
    ...(page.continue === undefined ? {} : { continue: page.continue }),
    ...(page.remaining === undefined || page.remaining === 0 ? {} : { remainingItemCount: page.remaining }),
  };
}

/** The common case: stored bytes are sent as they are, without parsing any of them. */
function sendStored({ exchange, resource }: Call, page: ListPage, metadata: JsonObject): void {
  const head = JSON.stringify({ kind: resource.listKind, apiVersion: resource.apiVersion, metadata });
  const parts: Buffer[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  const identity = storedHead(resource);
  page.entries.forEach(({ value }, index) => {
    if (index > 0) parts.push(comma);
    if (!startsWith(value, identity)) parts.push(Buffer.from(JSON.stringify(decodeStored(resource, value))));
    else if (resource.typed) parts.push(opening, value.subarray(identity.length));
    else parts.push(value);
  });
  parts.push(closing);
  exchange.sendBytes(200, Buffer.concat(parts), "application/json");
}

const opening = Buffer.from("{");
const comma = Buffer.from(",");
const closing = Buffer.from("]}\n");
