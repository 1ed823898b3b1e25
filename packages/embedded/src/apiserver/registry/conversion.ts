import type { ApiObject } from "../kinds/kind.ts";

/** Between the stored form of an object and the form of another version, where they differ in more than apiVersion. */
export interface Conversion {
  fromStored(object: ApiObject): ApiObject;
  toStored(object: ApiObject): ApiObject;
}
