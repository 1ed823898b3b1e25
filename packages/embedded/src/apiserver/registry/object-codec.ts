import type { StoredEntry } from "../../store/event-log.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Resource } from "./resource.ts";

/** The bytes that are stored and sent: the object as JSON, with the revision of this very write inside. */
export function encodeStored(resource: Resource, object: ApiObject, revision: number): Buffer {
  const stored = resource.conversion?.toStored(object) ?? object;
  const metadata = { ...stored.metadata, resourceVersion: String(revision) };
  return Buffer.from(JSON.stringify({ ...stored, apiVersion: resource.storageApiVersion, metadata }));
}

export function decodeStored(resource: Resource, value: Buffer): ApiObject {
  // We wrote these bytes ourselves from an object.
  const object = JSON.parse(value.toString()) as ApiObject;
  if (resource.conversion !== undefined) return resource.conversion.fromStored(object);
  object.apiVersion = resource.apiVersion;
  return object;
}

/** Whether stored bytes can be sent as they are for this resource. */
export const isSentAsStored = (resource: Resource): boolean =>
  resource.conversion === undefined && resource.apiVersion === resource.storageApiVersion;

export const objectOf = (resource: Resource, entry: StoredEntry): ApiObject => decodeStored(resource, entry.value);
