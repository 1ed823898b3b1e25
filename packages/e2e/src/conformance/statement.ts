import type { World } from "./world.ts";

/** Something that holds on every Kubernetes API server. It fails by throwing. */
export interface Statement {
  /** Unique, and short enough to name a namespace. */
  readonly id: string;
  readonly says: string;
  readonly run: (world: World) => Promise<void>;
}
