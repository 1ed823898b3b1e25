import { describeError, type Clock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import { errors, hasEnded, type Migration, type MigrationOptions, type MigrationProgress } from "@polyvirt/stack";
import type { LibvirtLifecycle } from "../lifecycle/libvirt-lifecycle.ts";
import { LibvirtConnection } from "../rpc/libvirt-connection.ts";
import { procedures } from "../rpc/remote-program.ts";
import { readParameters, type TypedParameter } from "../rpc/typed-parameter.ts";
import { openRelay } from "./daemon-relay.ts";

/** Flags of a migration, by what they do. */
const flags = {
  live: 1,
  /** The daemons talk to each other; we only say where. */
  peerToPeer: 2,
  /** Everything goes through the daemons' one connection, so that one socket between the launchers is enough. */
  tunnelled: 4,
  persistDestination: 8,
  /** Whether both ends see the same storage was decided before; libvirt can only guess from the kind of file system. */
  trustStorage: 512,
  autoConverge: 8192,
} as const;

/** The definition at rest, with what is secret in it. */
const inactiveAndSecret = 1 | 2;
const mebibyte = 1024 * 1024;
const lookTimeoutMs = 10_000;

/** libvirt's numbers for what its current job is doing. */
const jobPhases: readonly MigrationProgress["phase"][] = [
  "none",
  "active",
  "active",
  "completed",
  "failed",
  "cancelled",
];

/**
 * Moves a running machine to another launcher's daemon. The target defines the machine as it is to be there and opens its
 * daemon to the agreed socket; the source reads that definition through the socket and lets the daemons do the rest.
 */
export class LibvirtMigration implements Migration {
  readonly #lifecycle: LibvirtLifecycle;
  readonly #clock: Clock;

  constructor(lifecycle: LibvirtLifecycle, clock: Clock) {
    this.#lifecycle = lifecycle;
    this.#clock = clock;
  }

  async receive(definition: Domain, socketPath: string): Promise<void> {
    await this.#lifecycle.begin(definition, async (handle) => {
      const relay = await openRelay(socketPath, this.#lifecycle.daemon.layout.socket);
      const stop = this.#lifecycle.subscribe((event) => {
        if (event.kind !== "status" || !(event.status.state === "Running" || hasEnded(event.status))) return;
        stop();
        // What the daemons still have to say to each other is said within moments of the machine running here.
        this.#clock.setTimer(lookTimeoutMs, () => relay.close());
      });
      return { handle, status: { state: "Paused", reason: "Migration" } };
    });
  }

  async send(socketPath: string, options: MigrationOptions): Promise<void> {
    const machine = this.#lifecycle.running("move");
    if (options.allowPostCopy === true) {
      throw errors.StackNotSupported(
        "move the machine with post-copy: stack libvirt moves machines through one socket",
      );
    }
    const definition = await this.#definitionAt(socketPath, machine.definition.name ?? "");
    if (options.downtimeLimitMs !== undefined) {
      const request = { domain: machine.handle, downtimeMs: BigInt(options.downtimeLimitMs), flags: 0 };
      await this.#lifecycle.call(procedures.domainMigrateSetMaxDowntime, request, "limit the downtime");
    }
    await this.#lifecycle.call(
      procedures.domainMigratePerform3Params,
      {
        domain: machine.handle,
        destination: `qemu+unix:///session?socket=${encodeURIComponent(socketPath)}`,
        parameters: parameters(definition, options),
        cookie: Buffer.alloc(0),
        flags:
          flags.live |
          flags.peerToPeer |
          flags.tunnelled |
          flags.persistDestination |
          flags.trustStorage |
          (options.allowAutoConverge === true ? flags.autoConverge : 0),
      },
      "move the machine",
      null,
    );
    this.#lifecycle.movedAway();
  }

  async cancel(): Promise<void> {
    const { handle } = this.#lifecycle.running("stop moving");
    await this.#lifecycle.call(procedures.domainAbortJob, { domain: handle }, "stop moving the machine");
  }

  async progress(): Promise<MigrationProgress> {
    const { handle } = this.#lifecycle.running("look at the move of");
    const request = { domain: handle, flags: 0 };
    const job = await this.#lifecycle.call(procedures.domainGetJobStats, request, "look at the move");
    const counters = readParameters(job.parameters);
    return {
      phase: jobPhases[job.type] ?? "none",
      totalBytes: Number(counters.get("memory_total") ?? 0),
      remainingBytes: Number(counters.get("memory_remaining") ?? 0),
    };
  }

  /** What the target has defined: the same machine with the target's paths. */
  async #definitionAt(socketPath: string, name: string): Promise<string> {
    const options = { operation: `find ${name} at the target`, timeoutMs: lookTimeoutMs };
    let target: LibvirtConnection | undefined;
    try {
      target = await LibvirtConnection.open({
        socketPath,
        clock: this.#clock,
        onEvent: () => {},
        onClose: () => {},
      });
      const { domain } = await target.call(procedures.domainLookupByName, { name }, options);
      return (await target.call(procedures.domainGetXmlDesc, { domain, flags: inactiveAndSecret }, options)).xml;
    } catch (cause) {
      throw errors.StackCommandFailed(
        `move the machine: nobody waits for it at ${socketPath} (${describeError(cause)}); it runs on here`,
        { cause },
      );
    } finally {
      target?.close();
    }
  }
}

function parameters(definition: string, options: MigrationOptions): TypedParameter[] {
  const speed = options.bandwidthBytesPerSecond;
  return [
    { field: "destination_xml", type: "string", value: definition },
    // libvirt counts in mebibytes a second; less than one is not possible.
    ...(speed === undefined || speed === 0
      ? []
      : [{ field: "bandwidth", type: "ullong", value: BigInt(Math.ceil(speed / mebibyte)) } as const]),
  ];
}
