import { StatusError } from "../http/status-error.ts";
import { parseDeleteOptions } from "../registry/deletion.ts";
import { listPage, selectionOf } from "../registry/list.ts";
import { decodeStored } from "../registry/object-codec.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import { listOf } from "./send-list.ts";

/** Deletes everything that a list with the same selectors would show, and answers with that list. */
export async function handleDeleteCollection({ store, deletion }: ResourceDeps, call: Call): Promise<void> {
  const { exchange, resource, namespace, format } = call;
  const { value } = await exchange.parsedBody();
  const options = parseDeleteOptions(value, exchange.query);
  const context = exchange.context();
  const dryRun = context.dryRun || options.dryRun?.includes("All") === true;
  const page = listPage(store, selectionOf(resource, namespace, exchange.query), exchange.query);
  const items: ApiObject[] = [];
  for (const entry of page.entries) {
    const { metadata } = decodeStored(resource, entry.value);
    try {
      const deleted = await deletion.delete(
        { ...context, dryRun },
        resource,
        metadata.namespace ?? "",
        metadata.name ?? "",
        options,
      );
      items.push(deleted.object);
    } catch (error) {
      // Somebody else deleted it first, which is as good.
      if (!(error instanceof StatusError && error.status.reason === "NotFound")) throw error;
    }
  }
  const metadata = { resourceVersion: String(store.revision) };
  exchange.send(200, listOf(resource, metadata, items), format);
}
