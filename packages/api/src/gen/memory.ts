// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Quantity } from "../wire-types.ts";

/** Memory. */
export interface Memory {
  /** Guest. */
  guest?: Quantity;
  /** Hugepages. */
  hugepages?: Hugepages;
  /** Max guest. */
  maxGuest?: Quantity;
  /** Reserved overhead. */
  reservedOverhead?: ReservedOverhead;
}

/** Hugepages. */
export interface Hugepages {
  /** Page size. */
  pageSize?: string;
}

/** Reserved overhead. */
export interface ReservedOverhead {
  /** Added overhead. */
  addedOverhead?: Quantity;
  /** Mem lock. */
  memLock?: "NotRequired" | "Required" | (string & {});
}
