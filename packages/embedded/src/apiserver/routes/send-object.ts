import type { ApiObject } from "../kinds/kind.ts";
import { partialMetadata, tableOf } from "../registry/table.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import { includeOf } from "./include-object.ts";

/** One object in the form the client asked for. */
export function sendObject(
  deps: Pick<ResourceDeps, "clock">,
  { exchange, resource, format }: Call,
  code: number,
  object: ApiObject,
): void {
  switch (format.as) {
    case "object":
      return exchange.send(code, object, format);
    case "metadata":
      return exchange.send(code, partialMetadata(object), format);
    case "table": {
      const metadata = { resourceVersion: object.metadata.resourceVersion };
      const table = tableOf(resource, [object], {
        metadata,
        include: includeOf(exchange.query),
        now: deps.clock.now(),
      });
      return exchange.send(code, table, format);
    }
  }
}
