import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import { errors, type DomainEvent, type DomainStatus, type StartOptions } from "@polyvirt/stack";
import type { Hardware, QemuCommand } from "../arguments/build-arguments.ts";
import { monitorFd, type SpawnVmm, type VmmExit, type VmmProcess } from "../process/vmm-process.ts";
import { connectQmp, type QmpClient, type QmpEvent } from "../qmp/qmp-client.ts";
import {
  askedToEnd,
  askedToMove,
  askedToPause,
  describeExit,
  lastWords,
  onExit,
  onQmpEvent,
  receivingState,
  startingState,
  type Ending,
  type MachineState,
  type Transition,
} from "./machine-state.ts";
import { placeThreads } from "./place-threads.ts";

export interface MachineDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly spawn: SpawnVmm;
}

/** Who hears of the machine: events of the contract, and QEMU's own for parts that know more about them. */
export interface MachineListener {
  onEvent(event: DomainEvent): void;
  onMonitorEvent(event: QmpEvent): void;
}

/** How a machine comes from elsewhere. */
export interface Arrival {
  /** Where QEMU listens for it. */
  readonly socketPath: string;
  /** Whether it may run before all of its memory is here. */
  readonly allowPostCopy: boolean;
}

/** Time for QEMU to come up; under software emulation on a loaded node it is seconds, not milliseconds. */
const startTimeoutMs = 60_000;
const commandTimeoutMs = 10_000;
/** Time for QEMU to close its disks before it is killed. */
const quitTimeoutMs = 3_000;

/** One QEMU process from spawn to exit. */
export class QemuMachine {
  /** As it is now: devices that come and go are in it. */
  definition: Domain;
  readonly hardware: Hardware;
  readonly #dependencies: MachineDependencies;
  readonly #listener: MachineListener;
  readonly #process: VmmProcess;
  #state: MachineState = startingState;
  #qmp: QmpClient | undefined;
  #exit: Promise<VmmExit>;

  private constructor(
    definition: Domain,
    hardware: Hardware,
    process: VmmProcess,
    dependencies: MachineDependencies,
    listener: MachineListener,
  ) {
    this.definition = definition;
    this.hardware = hardware;
    this.#process = process;
    this.#dependencies = dependencies;
    this.#listener = listener;
    this.#exit = process.exited;
  }

  /** Spawns QEMU with stopped CPUs. Nothing is known yet but that the program exists; `bringUp` does the rest. */
  static async spawn(
    definition: Domain,
    command: QemuCommand,
    dependencies: MachineDependencies,
    listener: MachineListener,
    extraArguments: readonly string[] = [],
  ): Promise<QemuMachine> {
    const monitor = ["-chardev", `socket,id=monitor,fd=${monitorFd}`, "-mon", "chardev=monitor,mode=control"];
    const args = [...command.args, ...extraArguments, "-S", ...monitor];
    dependencies.logger.debug("starting QEMU", { emulator: command.emulator, args });
    try {
      const process = await dependencies.spawn(command.emulator, args);
      return new QemuMachine(definition, command.hardware, process, dependencies, listener);
    } catch (cause) {
      throw errors.StackStartFailed(`start ${command.emulator}`, { cause });
    }
  }

  /** Like `bringUp` for a machine whose memory and state come from another one, over a socket that QEMU listens on. */
  async receive(command: QemuCommand, { socketPath, allowPostCopy }: Arrival): Promise<void> {
    this.#state = receivingState;
    try {
      await this.#connect(command);
      const capabilities = [
        { capability: "events", state: true },
        { capability: "postcopy-ram", state: allowPostCopy },
      ];
      await this.monitor.execute("migrate-set-capabilities", { capabilities });
      await this.monitor.execute("migrate-incoming", { uri: `unix:${socketPath}` });
      this.#watchExit();
    } catch (cause) {
      throw await this.#explainFailedStart(cause, undefined);
    }
  }

  /** Connects the monitor, sets up what only the monitor can, and lets the guest run unless it is to wait. */
  async bringUp(command: QemuCommand, options: StartOptions): Promise<void> {
    const stop = (): void => this.#process.kill("SIGKILL");
    options.signal?.addEventListener("abort", stop, { once: true });
    try {
      options.signal?.throwIfAborted();
      await this.#connect(command);
      await this.#release(options.paused ?? false);
      this.#watchExit();
    } catch (cause) {
      throw await this.#explainFailedStart(cause, options.signal);
    } finally {
      options.signal?.removeEventListener("abort", stop);
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  get status(): DomainStatus {
    return this.#state.status;
  }

  /** Resolves when the machine has ended and its last event was sent. */
  get ended(): Promise<unknown> {
    return this.#exit;
  }

  /** Undefined until QEMU has said it. */
  get version(): string | undefined {
    return this.#qmp?.version;
  }

  get monitor(): QmpClient {
    if (this.#qmp === undefined) throw errors.StackVmmGone("talk to QEMU: it has not started");
    return this.#qmp;
  }

  async pause(): Promise<void> {
    if (this.status.state === "Paused") return;
    this.#state = askedToPause(this.#state);
    await this.monitor.execute("stop");
  }

  async resume(): Promise<void> {
    await this.monitor.execute("cont");
  }

  /** The next stop of the CPUs is part of a move. */
  expectMove(): void {
    this.#state = askedToMove(this.#state);
  }

  async kill(ending: Ending = "Destroyed"): Promise<void> {
    this.#state = askedToEnd(this.#state, ending);
    await this.#end();
  }

  async #end(): Promise<void> {
    const timer = this.#dependencies.clock.setTimer(quitTimeoutMs, () => this.#process.kill("SIGKILL"));
    // QEMU may be too far gone to answer; the timer ends it then.
    await this.#qmp?.execute("quit", {}, { timeoutMs: quitTimeoutMs }).catch(() => this.#process.kill("SIGKILL"));
    if (this.#qmp === undefined) this.#process.kill("SIGKILL");
    await this.#exit;
    timer.cancel();
  }

  async #connect(command: QemuCommand): Promise<void> {
    this.#qmp = await connectQmp({
      connection: this.#process.monitor,
      clock: this.#dependencies.clock,
      timeoutMs: startTimeoutMs,
      onEvent: (event) => {
        this.#dependencies.logger.debug("QEMU event", { event: event.name, data: event.data });
        this.#apply(onQmpEvent(this.#state, event));
        this.#listener.onMonitorEvent(event);
      },
    });
    for (const step of command.afterStart) await this.#qmp.execute(step.command, step.args);
    await placeThreads(command.placement, this.#qmp, this.#process.pid);
  }

  async #release(paused: boolean): Promise<void> {
    if (paused) {
      this.#state = { ...this.#state, status: { state: "Paused", reason: "User" } };
      this.#listener.onEvent({ kind: "status", status: this.status });
    } else {
      await this.monitor.execute("cont", {}, { timeoutMs: commandTimeoutMs });
    }
  }

  /** QEMU says on stderr what it did not like, and that is what the user needs; the broken monitor is only the echo. */
  async #explainFailedStart(cause: unknown, signal: AbortSignal | undefined): Promise<Error> {
    this.#process.kill("SIGKILL");
    const exit = await this.#exit;
    const name = this.definition.name ?? "machine";
    if (signal?.aborted === true) return errors.StackStartFailed(`start ${name}: given up`, { cause: signal.reason });
    // QEMU itself was fine and had to go; what went wrong is what it was asked, or what was done to it.
    if (hasCode(cause, "StackCommandFailed") || hasCode(cause, "StackStartFailed")) {
      return errors.StackStartFailed(`start ${name}: ${cause.message}`, { cause });
    }
    return errors.StackStartFailed(`start ${name}: QEMU ${describeExit(exit)}: ${lastWords(exit)}`, {
      cause,
      fields: { stderr: exit.stderr },
    });
  }

  #watchExit(): void {
    this.#exit = this.#process.exited.then((exit) => {
      this.#qmp?.close();
      this.#dependencies.logger.info("QEMU ended", { how: describeExit(exit) });
      this.#apply(onExit(this.#state, exit));
      return exit;
    });
  }

  #apply(transition: Transition): void {
    this.#state = transition.state;
    for (const event of transition.events) this.#listener.onEvent(event);
  }
}
