import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeError, type Clock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import {
  errors,
  hasEnded,
  probeQemuPostCopy,
  type Migration,
  type MigrationOptions,
  type MigrationProgress,
  type PostCopySupport,
  type ReceiveOptions,
} from "@polyvirt/stack";
import { daemonUserCommand } from "../daemon/daemon-user.ts";
import type { LibvirtLifecycle, LibvirtMachine } from "../lifecycle/libvirt-lifecycle.ts";
import { hostEmulator } from "../lifecycle/host-emulator.ts";
import { readParameters } from "../rpc/typed-parameter.ts";
import { procedures } from "../rpc/remote-program.ts";
import { openRelay } from "./incoming-relay.ts";
import { MigrationTarget, incomingNote } from "./migration-target.ts";
import { migrationFlags, parametersFor } from "./migration-parameters.ts";

const statsOfCurrentJob = 0;
/** What the daemons still have to say to each other about a machine that has ended is said within moments. */
const farewellMs = 10_000;

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
 * daemon to the agreed socket; the source leads both daemons through the steps of a migration, and its QEMU fills the one
 * at the target through the same socket.
 */
export class LibvirtMigration implements Migration {
  readonly #lifecycle: LibvirtLifecycle;
  readonly #clock: Clock;
  /** Of the move that is under way here. */
  #postCopyBegun = false;

  constructor(lifecycle: LibvirtLifecycle, clock: Clock) {
    this.#lifecycle = lifecycle;
    this.#clock = clock;
  }

  postCopy(): Promise<PostCopySupport> {
    // As libvirt will start it: with the daemon's user, and no rights of its own.
    const user = daemonUserCommand({ uid: process.getuid?.() ?? 0, passwd: readFileSync("/etc/passwd", "utf8") });
    const [program, ...args] = [...user, hostEmulator()];
    return probeQemuPostCopy({ clock: this.#clock, command: [program, ...args] });
  }

  async receive(definition: Domain, socketPath: string, options: ReceiveOptions = {}): Promise<void> {
    if (options.allowPostCopy === true) {
      const answer = await this.postCopy();
      if (!answer.supported) throw errors.StackNotSupported(`receive the machine by post-copy: ${answer.reason}`);
    }
    const { layout } = this.#lifecycle.daemon;
    const incoming = join(layout.runtime, "incoming");
    await this.#lifecycle.begin(definition, async (handle) => {
      await this.#lifecycle.call(procedures.domainSetMetadata, incomingNote(handle, incoming), "make ready for a move");
      const relay = await openRelay(socketPath, { daemon: layout.socket, machine: incoming });
      const stop = this.#lifecycle.subscribe((event) => {
        if (event.kind !== "status") return;
        const { state, reason } = event.status;
        if (state === "Paused" && reason === "PostcopyFailed") void this.#lifecycle.lost().catch(() => undefined);
        // At once: the next machine that is to come may be awaited at the same place.
        if (state === "Running" || hasEnded(event.status)) relay.refuse();
        if (!hasEnded(event.status)) return;
        stop();
        this.#clock.setTimer(farewellMs, () => relay.close());
      });
      return { handle, status: { state: "Paused", reason: "Migration" } };
    });
  }

  async send(socketPath: string, options: MigrationOptions): Promise<void> {
    const machine = this.#lifecycle.running("move");
    this.#postCopyBegun = false;
    const target = await MigrationTarget.open(socketPath, machine.definition.name ?? "", this.#clock);
    try {
      if (options.downtimeLimitMs !== undefined) {
        const request = { domain: machine.handle, downtimeMs: BigInt(options.downtimeLimitMs), flags: 0 };
        await this.#lifecycle.call(procedures.domainMigrateSetMaxDowntime, request, "limit the downtime");
      }
      await this.#lead(machine, target, socketPath, options);
    } catch (cause) {
      if (this.#postCopyBegun) await this.#lifecycle.lost();
      throw this.#explain(cause);
    } finally {
      target.close();
    }
    this.#lifecycle.movedAway();
  }

  async startPostCopy(): Promise<void> {
    const { handle } = this.#lifecycle.running("move by post-copy");
    const begun = this.#postCopyBegun;
    this.#postCopyBegun = true;
    try {
      const request = { domain: handle, flags: 0 };
      await this.#lifecycle.call(procedures.domainMigrateStartPostCopy, request, "move the machine by post-copy");
    } catch (error) {
      this.#postCopyBegun = begun;
      throw errors.StackCommandFailed(describeError(error), { cause: error });
    }
  }

  async cancel(): Promise<void> {
    const { handle } = this.#lifecycle.running("stop moving");
    if (this.#postCopyBegun) {
      throw errors.StackCommandFailed("stop moving the machine: it runs at the target, and part of its memory is here");
    }
    await this.#lifecycle.call(procedures.domainAbortJob, { domain: handle }, "stop moving the machine");
  }

  async progress(): Promise<MigrationProgress> {
    const { handle } = this.#lifecycle.running("look at the move of");
    const request = { domain: handle, flags: statsOfCurrentJob };
    const job = await this.#lifecycle.call(procedures.domainGetJobStats, request, "look at the move");
    const counters = readParameters(job.parameters);
    const phase = jobPhases[job.type] ?? "none";
    return {
      phase: phase === "active" && this.#postCopyBegun ? "postcopy" : phase,
      totalBytes: Number(counters.get("memory_total") ?? 0),
      remainingBytes: Number(counters.get("memory_remaining") ?? 0),
    };
  }

  /** The steps of a migration, in libvirt's order. What fails before post-copy leaves the machine running at the source. */
  async #lead(
    { handle, definition }: LibvirtMachine,
    target: MigrationTarget,
    socketPath: string,
    options: MigrationOptions,
  ): Promise<void> {
    const flags = migrationFlags(options);
    const parameters = parametersFor(definition.name ?? "", options);
    const begun = await this.#lifecycle.call(
      procedures.domainMigrateBegin3Params,
      { domain: handle, parameters: parameters.begin(target.definition), flags: flags.source },
      "begin to move the machine",
    );
    const prepared = await target.prepare(parameters.prepare(begun.xml, target.incoming), begun.cookie, flags.target);
    let cookie: Buffer;
    try {
      const performed = await this.#lifecycle.call(
        procedures.domainMigratePerform3Params,
        {
          domain: handle,
          destination: undefined,
          parameters: parameters.perform(begun.xml, socketPath),
          cookie: prepared,
          flags: flags.source,
        },
        "move the machine",
        null,
      );
      cookie = performed.cookie;
    } catch (error) {
      // The target clears away what has arrived. If it cannot, it will notice by itself.
      await target.finish(parameters.finish(), Buffer.alloc(0), flags.target, true).catch(() => undefined);
      throw error;
    }
    const confirm = (answer: Buffer, cancelled: boolean) =>
      this.#lifecycle.call(
        procedures.domainMigrateConfirm3Params,
        {
          domain: handle,
          parameters: parameters.finish(),
          cookie: answer,
          flags: flags.source,
          cancelled: cancelled ? 1 : 0,
        },
        "let go of the machine",
        null,
      );
    let answer: Buffer;
    try {
      answer = await target.finish(parameters.finish(), cookie, flags.target, false);
    } catch (error) {
      // What the target said is the reason; that the source then has trouble, too, is none.
      await confirm(Buffer.alloc(0), true).catch(() => undefined);
      throw error;
    }
    await confirm(answer, false);
  }

  #explain(cause: unknown): Error {
    const options = { cause };
    const current = this.#lifecycle.domain();
    const said = describeError(cause);
    if (this.#postCopyBegun) {
      return errors.StackCommandFailed(
        `move the machine: it is lost, because post-copy did not finish (${said})`,
        options,
      );
    }
    if (current === undefined || hasEnded(current.status)) {
      return errors.StackVmmGone(`move the machine: it ended while it was being moved (${said})`, options);
    }
    return errors.StackCommandFailed(`${said}; the machine runs on here`, options);
  }
}
