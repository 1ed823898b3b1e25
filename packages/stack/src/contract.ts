/**
 * What a virt-launcher needs from a virtualization stack. One stack object runs one machine at a time, as one launcher
 * does. `lifecycle` is what makes a stack; every other part is optional, and having the property is the declaration that
 * the stack implements it. A stack throws only the errors of errors.ts.
 */
import type { Domain } from "@polyvirt/domain";
import type { DomainReason, DomainState } from "@polyvirt/protocol";
import type { CapabilityProvider, CapabilityTarget } from "./capability-provider.ts";
import type { GuestAgent } from "./guest-agent.ts";
import type { Hotplug } from "./hotplug.ts";
import type { Migration } from "./migration.ts";

export interface Stack {
  /** Short name for messages and images: `qemu`, `libvirt`. */
  readonly name: string;
  /** The monitor's own name, for example `QEMU`. */
  readonly vmmName: string;
  vmmVersion(): Promise<string>;
  /** What this stack can do on this node; works without a machine. */
  capabilities(target: CapabilityTarget): CapabilityProvider;
  readonly lifecycle: Lifecycle;
  /** Does beforehand what the first start would otherwise have to wait for. Absent where there is no such thing. */
  prepare?(): Promise<void>;
  readonly console?: Console;
  readonly graphics?: Graphics;
  readonly guestAgent?: GuestAgent;
  readonly stats?: Stats;
  readonly hotplug?: Hotplug;
  readonly migration?: Migration;
  /** Ends the machine, if there is one, and everything that the stack started. Nothing of it is left afterwards. */
  close(): Promise<void>;
}

/** The parts that a stack may leave out. */
export const optionalParts = ["console", "graphics", "guestAgent", "stats", "hotplug", "migration"] as const;
export type OptionalPart = (typeof optionalParts)[number];

export interface Lifecycle {
  /**
   * Brings the machine up; resolves when the monitor runs it (not when the guest has booted). Started again with the same
   * name while it runs, it does nothing. Paused machines wait for `resume`.
   */
  start(definition: Domain, options?: StartOptions): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The reset button: the machine starts over without the guest being asked. */
  reset(): Promise<void>;
  /** The power button: asks the guest to end and returns. What the guest makes of it comes as events. */
  shutdown(): Promise<void>;
  /** Pulls the plug; resolves when the machine is gone. Without a machine it does nothing. */
  kill(): Promise<void>;
  /** Forgets a machine that has ended, so that another may be started. */
  forget(): Promise<void>;
  /** The machine as it is now; undefined before the first start and after `forget`. */
  domain(): RunningDomain | undefined;
  /** Calls the listener for everything that happens from now on, in order. Returns how to stop it. */
  subscribe(listener: DomainEventListener): () => void;
}

export interface StartOptions {
  readonly paused?: boolean;
  /** Gives up and cleans up when aborted. */
  readonly signal?: AbortSignal;
}

export interface RunningDomain {
  readonly definition: Domain;
  readonly status: DomainStatus;
}

export interface DomainStatus {
  readonly state: DomainState;
  readonly reason: DomainReason;
  /** Why, in a sentence for people: the monitor's last words when it crashed. */
  readonly message?: string;
}

export type DomainEventListener = (event: DomainEvent) => void;

/** Everything that a stack reports about its machine by itself. */
export type DomainEvent =
  | { readonly kind: "status"; readonly status: DomainStatus }
  | { readonly kind: "reset"; readonly byGuest: boolean }
  | { readonly kind: "guestAgent"; readonly connected: boolean }
  | { readonly kind: "ioError"; readonly device: string; readonly noSpace: boolean; readonly message: string }
  | { readonly kind: "guestPanicked"; readonly message: string }
  | { readonly kind: "watchdog"; readonly action: string }
  | { readonly kind: "deviceRemoved"; readonly alias: string }
  | { readonly kind: "deviceRemovalRefused"; readonly alias: string }
  | { readonly kind: "memoryChanged"; readonly bytes: number };

/** States in which a machine has ended: it will never run again under this start. */
export function hasEnded(status: DomainStatus): boolean {
  return status.state === "Shutoff" || status.state === "Crashed";
}

export interface Console {
  /** Unix socket of the machine's serial port; one client at a time. */
  serialSocket(port: number): string;
  /** File to which everything that the guest writes to the port is appended. */
  serialLog(port: number): string | undefined;
}

export interface Graphics {
  /** Unix socket that speaks VNC. */
  vncSocket(): string;
  screenshot(): Promise<Screenshot>;
}

export interface Screenshot {
  readonly mime: string;
  readonly data: Uint8Array;
}

export interface Stats {
  domainStats(): Promise<DomainStats>;
  /** Watches the guest for a second: how much of its memory it writes to, in mebibytes a second. */
  dirtyRate?(): Promise<number>;
}

/** Counters since the start of the machine. What a monitor cannot say is absent. */
export interface DomainStats {
  readonly cpuTimeNanoseconds?: number;
  readonly vcpus: readonly VcpuStats[];
  readonly memory: MemoryStats;
  readonly blocks: readonly BlockStats[];
  readonly interfaces: readonly InterfaceStats[];
}

export interface VcpuStats {
  readonly index: number;
  /** Id of the host thread that runs the vCPU. */
  readonly threadId?: number;
  readonly timeNanoseconds?: number;
}

export interface MemoryStats {
  /** What the guest has now. */
  readonly actualBytes: number;
  readonly residentBytes?: number;
  readonly availableBytes?: number;
  readonly unusedBytes?: number;
}

export interface BlockStats {
  readonly alias: string;
  readonly target?: string;
  readonly readBytes: number;
  readonly readRequests: number;
  readonly writeBytes: number;
  readonly writeRequests: number;
  readonly flushRequests: number;
}

export interface InterfaceStats {
  readonly alias: string;
  readonly receivedBytes?: number;
  readonly sentBytes?: number;
}
