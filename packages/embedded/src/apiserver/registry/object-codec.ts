import type { StoredEntry } from "../../store/event-log.ts";
import { tooLarge } from "../http/status-error.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "./resource.ts";

/** What a request of the largest size can make, with the owners of its fields; patches cannot grow an object beyond it. */
const objectLimit = 4 * 1024 * 1024;

/** The bytes that are stored and sent: the object as JSON, with the revision of this very write inside. */
export function encodeStored(resource: Resource, object: ApiObject, revision: number): Buffer {
  const stored = resource.conversion?.toStored(object) ?? object;
  const metadata = { ...stored.metadata, resourceVersion: String(revision) };
  const bytes = Buffer.from(JSON.stringify({ ...stored, apiVersion: resource.storageApiVersion, metadata }));
  if (bytes.length > objectLimit) throw tooLarge(objectLimit);
  return bytes;
}

export function decodeStored(resource: Resource, value: Buffer): ApiObject {
  // We wrote these bytes ourselves from an object.
  const object = JSON.parse(value.toString()) as ApiObject;
  if (resource.conversion !== undefined) return resource.conversion.fromStored(object);
  object.apiVersion = resource.apiVersion;
  return object;
}

/** Whether stored bytes can be sent as they are for this resource, if they begin as they should. */
export const isSentAsStored = (resource: Resource): boolean =>
  resource.conversion === undefined && resource.apiVersion === resource.storageApiVersion;

/** How an object of the resource begins in the store, identity first; it may still carry an earlier storage version. */
export const storedHead = ({ apiVersion, kind }: Resource): Buffer =>
  Buffer.from(`{"apiVersion":"${apiVersion}","kind":"${kind}",`);

export const startsWith = (bytes: Buffer, head: Buffer): boolean => bytes.subarray(0, head.length).equals(head);

export const objectOf = (resource: Resource, entry: StoredEntry): ApiObject => decodeStored(resource, entry.value);
