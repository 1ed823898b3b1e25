import { createHash } from "node:crypto";

import type { Exchange } from "../http/exchange.ts";
import { parseAccept } from "../http/media-type.ts";
import { noSuchRoute } from "../http/status-error.ts";
import type { Resource } from "../registry/resource.ts";
import type { ResourceRegistry } from "../registry/resource-registry.ts";
import { openApiDocument, swaggerDocument } from "./document.ts";
import { swaggerProtobuf, swaggerProtobufType } from "./swagger-protobuf.ts";

/** Serves /openapi/v3 and its documents, and /openapi/v2. Documents are made when asked for and not kept. */
export function openApiRoute(registry: ResourceRegistry): (exchange: Exchange) => boolean {
  let hashes: { generation: number; byPath: Map<string, string> } | undefined;
  const pathsAndHashes = (): Map<string, string> => {
    if (hashes?.generation !== registry.generation) {
      const byPath = new Map([...documentsOf(registry)].map(([path, resources]) => [path, hashOf(resources)]));
      hashes = { generation: registry.generation, byPath };
    }
    return hashes.byPath;
  };
  return (exchange) => {
    const { path } = exchange.info;
    if (path === "/openapi/v2") {
      if (acceptsJson(exchange.request.headers.accept)) exchange.send(200, swaggerDocument(registry.all()));
      else exchange.sendBytes(200, swaggerProtobuf(), swaggerProtobufType);
      return true;
    }
    if (path === "/openapi/v3" || path === "/openapi/v3/") {
      const paths = [...pathsAndHashes()].map(([name, hash]) => [
        name,
        { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` },
      ]);
      exchange.send(200, { paths: Object.fromEntries(paths) as unknown });
      return true;
    }
    if (!path.startsWith("/openapi/v3/")) return false;
    const name = path.slice("/openapi/v3/".length);
    const resources = documentsOf(registry).get(name);
    if (resources === undefined) throw noSuchRoute();
    const bytes = Buffer.from(JSON.stringify(openApiDocument(resources)));
    exchange.sendBytes(200, bytes, "application/json", {
      ETag: `"${pathsAndHashes().get(name) ?? ""}"`,
      Vary: "Accept",
    });
    return true;
  };
}

function documentsOf(registry: ResourceRegistry): Map<string, Resource[]> {
  const documents = new Map<string, Resource[]>();
  for (const resource of registry.all()) {
    const path = resource.group === "" ? `api/${resource.version}` : `apis/${resource.apiVersion}`;
    documents.set(path, [...(documents.get(path) ?? []), resource]);
  }
  return documents;
}

/** Changes with what the document says; built-in schemas only change with the server's version. */
function hashOf(resources: readonly Resource[]): string {
  const hash = createHash("sha256");
  for (const { kind, plural, subresources, schema, typed } of resources) {
    hash.update(JSON.stringify([kind, plural, [...subresources], typed ? "" : schema]));
  }
  return hash.digest("hex").toUpperCase();
}

function acceptsJson(accept: string | undefined): boolean {
  return (
    accept === undefined ||
    parseAccept(accept).some(({ type }) => ["application/json", "*/*", "application/*"].includes(type))
  );
}
