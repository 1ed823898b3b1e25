import type { Domain } from "@polyvirt/domain";
import {
  errors,
  hasEnded,
  type Migration,
  type MigrationOptions,
  type MigrationProgress,
  type PostCopySupport,
  type ReceiveOptions,
} from "@polyvirt/stack";
import type { QemuLifecycle } from "../lifecycle/qemu-lifecycle.ts";
import type { QemuMachine } from "../lifecycle/qemu-machine.ts";
import type { QmpClient } from "../qmp/qmp-client.ts";

/** QEMU's words for how far a move is, in the contract's. */
const phases: Readonly<Record<string, MigrationProgress["phase"]>> = {
  none: "none",
  setup: "setup",
  "wait-unplug": "setup",
  active: "active",
  device: "active",
  "pre-switchover": "active",
  "postcopy-active": "postcopy",
  "postcopy-paused": "postcopy",
  completed: "completed",
  failed: "failed",
  cancelling: "cancelled",
  cancelled: "cancelled",
};

/** How a move comes to an end; "gone" when the machine itself did. */
type Outcome = "completed" | "failed" | "cancelled" | "lost" | "gone";

/** QEMU's words for the states that a move does not leave again by itself. */
const outcomes: Readonly<Record<string, Outcome>> = {
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  // The connection broke when each end had a part of the memory. QEMU waits for another connection; nobody makes one.
  "postcopy-paused": "lost",
};

/** Moves a running machine to another QEMU over a unix socket. Disks are shared: both ends name the same storage. */
export class QemuMigration implements Migration {
  readonly #lifecycle: QemuLifecycle;
  readonly #askPostCopy: () => Promise<PostCopySupport>;
  /** Of the move that is under way here. */
  #postCopyBegun = false;

  constructor(lifecycle: QemuLifecycle, askPostCopy: () => Promise<PostCopySupport>) {
    this.#lifecycle = lifecycle;
    this.#askPostCopy = askPostCopy;
  }

  postCopy(): Promise<PostCopySupport> {
    return this.#askPostCopy();
  }

  async receive(definition: Domain, socketPath: string, options: ReceiveOptions = {}): Promise<void> {
    const allowPostCopy = options.allowPostCopy === true;
    if (allowPostCopy) {
      const answer = await this.postCopy();
      if (!answer.supported) throw errors.StackNotSupported(`receive the machine by post-copy: ${answer.reason}`);
    }
    await this.#lifecycle.receive(definition, { socketPath, allowPostCopy });
    const machine = this.#lifecycle.running("wait for");
    let resumed = false;
    const resume = async (): Promise<void> => {
      if (resumed) return;
      resumed = true;
      await machine.resume();
    };
    const next = (outcome: Outcome): Promise<void> => {
      if (outcome === "completed") return resume();
      // What fails before it runs here is still whole at the other end, so this one must never run.
      return machine.kill(outcome === "lost" ? "Lost" : "Destroyed");
    };
    this.#watch((outcome) => void next(outcome).catch(() => undefined), {
      onPostCopy: () => void resume().catch(() => undefined),
    });
  }

  async send(socketPath: string, options: MigrationOptions): Promise<void> {
    const machine = this.#lifecycle.running("move");
    await prepare(machine.monitor, options);
    this.#postCopyBegun = false;
    let stop = (): void => {};
    try {
      const finished = new Promise<Outcome>((resolve) => (stop = this.#watch(resolve)));
      machine.expectMove();
      await machine.monitor.execute("migrate", { uri: `unix:${socketPath}` });
      await this.#conclude(machine, await finished);
    } finally {
      stop();
    }
  }

  async startPostCopy(): Promise<void> {
    const { monitor } = this.#lifecycle.running("move by post-copy");
    const { phase } = await this.progress();
    if (phase !== "setup" && phase !== "active") {
      throw errors.StackCommandFailed("move the machine by post-copy: it is not being moved");
    }
    this.#postCopyBegun = true;
    try {
      await monitor.execute("migrate-start-postcopy");
    } catch (error) {
      this.#postCopyBegun = false;
      throw error;
    }
  }

  async cancel(): Promise<void> {
    const { monitor } = this.#lifecycle.running("stop moving");
    if (this.#postCopyBegun) {
      throw errors.StackCommandFailed("stop moving the machine: it runs at the target, and part of its memory is here");
    }
    await monitor.execute("migrate_cancel");
  }

  async progress(): Promise<MigrationProgress> {
    return readProgress(await this.#lifecycle.running("look at the move of").monitor.execute("query-migrate"));
  }

  async #conclude(machine: QemuMachine, outcome: Outcome): Promise<void> {
    if (outcome === "completed") return machine.kill("Migrated");
    if (outcome === "gone") throw errors.StackVmmGone("move the machine: it ended while it was being moved");
    if (outcome === "lost" || this.#postCopyBegun) {
      await machine.kill("Lost");
      throw errors.StackCommandFailed("move the machine: the connection broke during post-copy; the machine is lost");
    }
    const { message } = await this.progress();
    if (outcome === "cancelled")
      throw errors.StackCommandFailed("move the machine: it was cancelled; the machine runs on here");
    throw errors.StackCommandFailed(`move the machine: ${message ?? "QEMU gives no reason"}; it runs on here`);
  }

  /** Calls once: when the move has come to an end, or the machine itself has. Returns how to stop it. */
  #watch(done: (outcome: Outcome) => void, { onPostCopy = () => {} } = {}): () => void {
    const stops: (() => void)[] = [];
    const settle = (outcome: Outcome): void => {
      for (const stop of stops.splice(0)) stop();
      done(outcome);
    };
    stops.push(
      this.#lifecycle.onMonitorEvent(({ name, data }) => {
        if (name !== "MIGRATION") return;
        const status = String(data["status"]);
        if (status === "postcopy-active") onPostCopy();
        const outcome = outcomes[status];
        if (outcome !== undefined) settle(outcome);
      }),
      this.#lifecycle.subscribe((event) => {
        if (event.kind === "status" && hasEnded(event.status)) settle("gone");
      }),
    );
    return () => {
      for (const stop of stops.splice(0)) stop();
    };
  }
}

async function prepare(monitor: QmpClient, options: MigrationOptions): Promise<void> {
  const capabilities = [
    { capability: "events", state: true },
    { capability: "auto-converge", state: options.allowAutoConverge === true },
    { capability: "postcopy-ram", state: options.allowPostCopy === true },
  ];
  await monitor.execute("migrate-set-capabilities", { capabilities });
  const speed = options.bandwidthBytesPerSecond;
  await monitor.execute("migrate-set-parameters", {
    ...(speed === undefined ? {} : { "max-bandwidth": speed, "max-postcopy-bandwidth": speed }),
    ...(options.downtimeLimitMs === undefined ? {} : { "downtime-limit": options.downtimeLimitMs }),
  });
}

function readProgress(answer: unknown): MigrationProgress {
  // The shape is QEMU's published schema of `query-migrate`; all of it is optional.
  const {
    status,
    ram,
    "error-desc": message,
  } = answer as {
    status?: string;
    ram?: { total?: number; remaining?: number };
    "error-desc"?: string;
  };
  return {
    phase: phases[status ?? "none"] ?? "none",
    totalBytes: ram?.total ?? 0,
    remainingBytes: ram?.remaining ?? 0,
    ...(message === undefined ? {} : { message }),
  };
}
