import type { Domain } from "@polyvirt/domain";

/** Moving a running machine to another launcher. Both ends agree on a unix socket, which the node agents connect. */
export interface Migration {
  /** On the target: makes the machine ready to receive at the socket. */
  receive(definition: Domain, socketPath: string): Promise<void>;
  /** On the source: sends the machine; resolves when the target runs it, and the machine here has ended as Migrated. */
  send(socketPath: string, options: MigrationOptions): Promise<void>;
  /** On the source: gives up; the machine goes on running here. */
  cancel(): Promise<void>;
  progress(): Promise<MigrationProgress>;
}

export interface MigrationOptions {
  readonly bandwidthBytesPerSecond?: number;
  readonly allowAutoConverge?: boolean;
  readonly allowPostCopy?: boolean;
  readonly downtimeLimitMs?: number;
}

export interface MigrationProgress {
  readonly phase: "none" | "setup" | "active" | "postcopy" | "completed" | "failed" | "cancelled";
  readonly totalBytes: number;
  readonly remainingBytes: number;
  readonly message?: string;
}
