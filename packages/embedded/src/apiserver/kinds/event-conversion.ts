import type { JsonObject } from "../json.ts";
import type { ApiObject, Conversion } from "./kind.ts";

/** Events have two forms with the same content; these are the names in the newer one and in the stored one. */
const names: readonly (readonly [newer: string, stored: string])[] = [
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
];

function renamed(object: ApiObject, from: 0 | 1): JsonObject {
  const result: JsonObject = { ...object };
  for (const pair of names) {
    const value = object[pair[from]];
    delete result[pair[from]];
    if (value !== undefined) result[pair[from === 0 ? 1 : 0]] = value;
  }
  return result;
}

/** Between `events.k8s.io/v1` and the stored `v1`. */
export const eventConversion: Conversion = {
  fromStored: (object) => ({
    ...renamed(object, 1),
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: object.metadata,
  }),
  toStored: (object) => ({ ...renamed(object, 0), apiVersion: "v1", kind: "Event", metadata: object.metadata }),
};
