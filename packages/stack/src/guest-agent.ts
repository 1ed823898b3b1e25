/**
 * Talking to the agent inside the guest, whichever it is. Everything that comes from it was said by the guest: it is
 * capped and typed, and never an address to connect to.
 */
export interface GuestAgent {
  condition(): Promise<GuestAgentCondition>;
  /** Resolves when the agent answers within the limit. */
  ping(timeoutMs: number): Promise<void>;
  info(): Promise<GuestInfo>;
  users(): Promise<readonly GuestUser[]>;
  filesystems(): Promise<readonly GuestFilesystem[]>;
  exec(command: string, args: readonly string[], timeoutMs: number): Promise<GuestExecResult>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Asks the guest's system to restart itself in good order. */
  reboot(): Promise<void>;
  /** Lets whoever holds these keys log in as a user of the guest; keys that it has already stay. */
  addAuthorizedKeys(user: string, keys: readonly string[]): Promise<void>;
  /** Takes keys away; those that are not there are no failure. */
  removeAuthorizedKeys(user: string, keys: readonly string[]): Promise<void>;
  setPassword(user: string, password: string): Promise<void>;
}

export interface GuestAgentCondition {
  readonly connected: boolean;
  /** Whether the agent offers every command that the stack needs. */
  readonly supported: boolean;
}

export interface GuestInfo {
  readonly agentVersion: string;
  readonly supportedCommands: readonly string[];
  readonly hostname?: string;
  readonly os?: GuestOs;
  readonly timezone?: string;
  readonly interfaces: readonly GuestInterface[];
  readonly filesystemsFrozen?: boolean;
}

export interface GuestOs {
  readonly id?: string;
  readonly name?: string;
  readonly version?: string;
  readonly prettyName?: string;
  readonly versionId?: string;
  readonly kernelRelease?: string;
  readonly kernelVersion?: string;
  readonly machine?: string;
}

export interface GuestInterface {
  readonly name: string;
  readonly macAddress?: string;
  readonly ipAddresses: readonly string[];
}

export interface GuestUser {
  readonly name: string;
  readonly domain?: string;
  readonly loginTimeSeconds?: number;
}

export interface GuestFilesystem {
  readonly diskName: string;
  readonly mountPoint: string;
  readonly type: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
  /** What it lies on; more than one where the guest joins disks. */
  readonly disks: readonly GuestDisk[];
}

export interface GuestDisk {
  readonly busType: string;
  readonly serial?: string;
}

export interface GuestExecResult {
  readonly exitCode: number;
  readonly stdout: string;
}
