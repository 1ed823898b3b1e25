import type { DeviceProperties } from "./machine-plan.ts";

/** How memory is to be had: QEMU's object for it, without the size. */
export interface MemoryBacking {
  /** Whether the definition says anything about it. */
  readonly given: boolean;
  readonly type: "memory-backend-ram" | "memory-backend-memfd";
  readonly properties: DeviceProperties;
}
