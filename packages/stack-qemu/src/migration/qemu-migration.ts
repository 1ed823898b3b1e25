import type { Domain } from "@polyvirt/domain";
import { errors, hasEnded, type Migration, type MigrationOptions, type MigrationProgress } from "@polyvirt/stack";
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

/** Those that a move does not leave again. */
const finalPhases: Readonly<Record<string, MigrationProgress["phase"]>> = {
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** Moves a running machine to another QEMU over a unix socket. Disks are shared: both ends name the same storage. */
export class QemuMigration implements Migration {
  readonly #lifecycle: QemuLifecycle;

  constructor(lifecycle: QemuLifecycle) {
    this.#lifecycle = lifecycle;
  }

  async receive(definition: Domain, socketPath: string): Promise<void> {
    await this.#lifecycle.receive(definition, socketPath);
    const machine = this.#lifecycle.running("wait for");
    this.#watch((phase) => {
      // What fails here is still whole at the other end, so this one must never run.
      const next = phase === "completed" ? machine.resume() : machine.kill();
      next.catch(() => undefined);
    });
  }

  async send(socketPath: string, options: MigrationOptions): Promise<void> {
    const machine = this.#lifecycle.running("move");
    await prepare(machine.monitor, options);
    let stop = (): void => {};
    try {
      const finished = new Promise<MigrationProgress["phase"]>((resolve) => (stop = this.#watch(resolve)));
      machine.expectMove();
      await machine.monitor.execute("migrate", { uri: `unix:${socketPath}` });
      await this.#conclude(machine, await finished);
    } finally {
      stop();
    }
  }

  async cancel(): Promise<void> {
    await this.#lifecycle.running("stop moving").monitor.execute("migrate_cancel");
  }

  async progress(): Promise<MigrationProgress> {
    return readProgress(await this.#lifecycle.running("look at the move of").monitor.execute("query-migrate"));
  }

  async #conclude(machine: QemuMachine, phase: MigrationProgress["phase"]): Promise<void> {
    if (phase === "completed") return machine.kill("Migrated");
    if (phase === "none") throw errors.StackVmmGone("move the machine: it ended while it was being moved");
    const { message } = await this.progress();
    if (phase === "cancelled")
      throw errors.StackCommandFailed("move the machine: it was cancelled; the machine runs on here");
    throw errors.StackCommandFailed(`move the machine: ${message ?? "QEMU gives no reason"}; it runs on here`);
  }

  /** Calls once: when the move has come to an end, or with "none" when the machine itself has. Returns how to stop it. */
  #watch(done: (phase: MigrationProgress["phase"]) => void): () => void {
    const stops: (() => void)[] = [];
    const settle = (phase: MigrationProgress["phase"]): void => {
      for (const stop of stops.splice(0)) stop();
      done(phase);
    };
    stops.push(
      this.#lifecycle.onMonitorEvent(({ name, data }) => {
        const phase = name === "MIGRATION" ? finalPhases[String(data["status"])] : undefined;
        if (phase !== undefined) settle(phase);
      }),
      this.#lifecycle.subscribe((event) => {
        if (event.kind === "status" && hasEnded(event.status)) settle("none");
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
  await monitor.execute("migrate-set-parameters", {
    ...(options.bandwidthBytesPerSecond === undefined ? {} : { "max-bandwidth": options.bandwidthBytesPerSecond }),
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
