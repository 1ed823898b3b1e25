// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Local object reference. */
export interface LocalObjectReference {
  /** Name. */
  name?: string;
}
