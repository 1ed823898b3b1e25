// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** An object in the same namespace. */
export interface LocalObjectReference {
  /** Its name. */
  name?: string;
}
