import type { Domain } from "@polyvirt/domain";

/** Moving a running machine to another launcher. Both ends agree on a unix socket, which the node agents connect. */
export interface Migration {
  /** Whether machines may come here by post-copy. The monitor has to know how, and the node's kernel has to let it. */
  postCopy(): Promise<PostCopySupport>;
  /** On the target: makes the machine ready to receive at the socket. */
  receive(definition: Domain, socketPath: string, options?: ReceiveOptions): Promise<void>;
  /** On the source: sends the machine; resolves when the target runs it, and the machine here has ended as Migrated. */
  send(socketPath: string, options: MigrationOptions): Promise<void>;
  /**
   * On the source, while it sends: lets the machine run at the target at once and fetch the memory that is still here when
   * it touches it. Only where both ends allow it. There is no way back: what breaks from now on costs the machine.
   */
  startPostCopy(): Promise<void>;
  /** On the source: gives up; the machine goes on running here. Refused once post-copy has begun. */
  cancel(): Promise<void>;
  progress(): Promise<MigrationProgress>;
}

export type PostCopySupport =
  | { readonly supported: true }
  /** Why not, in a sentence for people. */
  | { readonly supported: false; readonly reason: string };

export interface ReceiveOptions {
  /** Makes ready for post-copy, or refuses with StackNotSupported and the reason. */
  readonly allowPostCopy?: boolean;
}

export interface MigrationOptions {
  readonly bandwidthBytesPerSecond?: number;
  readonly allowAutoConverge?: boolean;
  /** Makes `startPostCopy` possible; by itself it changes nothing. */
  readonly allowPostCopy?: boolean;
  readonly downtimeLimitMs?: number;
}

export interface MigrationProgress {
  readonly phase: "none" | "setup" | "active" | "postcopy" | "completed" | "failed" | "cancelled";
  readonly totalBytes: number;
  readonly remainingBytes: number;
  readonly message?: string;
}
