// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Quantity } from "../wire-types.ts";

/** Memory of a guest. */
export interface Memory {
  /** How much the guest sees. */
  guest?: Quantity;
  /** Back it by huge pages. */
  hugepages?: Hugepages;
  /** To how much the running guest may grow. */
  maxGuest?: Quantity;
  /** Memory to reserve besides what we reckon with. */
  reservedOverhead?: ReservedOverhead;
}

/** Huge pages that back a guest's memory. */
export interface Hugepages {
  /** Size of a page, for example 2Mi or 1Gi. */
  pageSize?: string;
}

/** Memory to reserve besides what we reckon with. */
export interface ReservedOverhead {
  /** How much. */
  addedOverhead?: Quantity;
  /** Whether the guest's memory must be locked. */
  memLock?: "NotRequired" | "Required" | (string & {});
}
