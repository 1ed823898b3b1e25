import type { Domain } from "@polyvirt/domain";
import type { Stack } from "../contract.ts";

/** What a stack brings along to be examined. */
export interface StackUnderTest {
  readonly stack: Stack;
  /**
   * A machine whose guest behaves as boot-sector.ts says: greets on its first serial port, echoes, and obeys the letters
   * and the power button. Where the stack offers graphics it has a display.
   */
  readonly domain: Domain;
  /** A machine that the monitor cannot start, for example because a disk is missing. */
  readonly brokenDomain: Domain;
  /** A machine with something in it that the stack cannot express, and the path of it; absent when it can do everything. */
  readonly refusedDomain?: { readonly domain: Domain; readonly path: string };
  /** For stacks with hotplug: a machine with room for more, and what is to be put into it. */
  readonly hotplug?: HotplugSamples;
  /** For stacks that can move machines: another stack, and the same machine as it is to be there. */
  readonly migration?: MigrationSamples;
  /** Ends the monitor behind the stack's back, as a crash would. */
  readonly crashVmm: () => Promise<void>;
  /** Which guests to ask capabilities about. */
  readonly capabilityTarget: { readonly architecture: string; readonly virtType: string };
  readonly dispose: () => Promise<void>;
}

export interface MigrationSamples {
  readonly target: Stack;
  /** The same machine and the same disks, with sockets of its own. */
  readonly targetDomain: Domain;
  /** Where the two meet. */
  readonly socketPath: string;
}

export interface HotplugSamples {
  readonly domain: Domain;
  /** A disk that leaves without the guest's help, such as one on a SCSI controller. */
  readonly disk: Disk & { readonly alias: { readonly name: string } };
  readonly networkCard: NetworkCard & { readonly alias: { readonly name: string } };
  /** More CPUs and more memory than the machine starts with. */
  readonly vcpus: number;
  readonly memoryBytes: number;
}

type Devices = NonNullable<Domain["devices"]>;
type Disk = NonNullable<Devices["disks"]>[number];
type NetworkCard = NonNullable<Devices["interfaces"]>[number];

export type MakeStack = () => Promise<StackUnderTest>;

/** The three functions that every test runner has (vitest, node:test, jest, mocha). */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}
