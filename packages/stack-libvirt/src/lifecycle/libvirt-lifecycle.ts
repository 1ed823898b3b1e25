import { open } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import type { ProcessEnd } from "@polyvirt/host";
import {
  errors,
  hasEnded,
  type DomainEvent,
  type DomainEventListener,
  type DomainStatus,
  type Lifecycle,
  type RunningDomain,
  type StartOptions,
} from "@polyvirt/stack";
import { LibvirtDaemon, type DaemonDependencies } from "../daemon/libvirt-daemon.ts";
import type { LibvirtConnection, LibvirtEvent } from "../rpc/libvirt-connection.ts";
import { events, procedures, type DomainHandle, type Procedure } from "../rpc/remote-program.ts";
import { contractEvents, lifecycleStatus, listenedMonitorEvents, statusOf } from "./libvirt-state.ts";
import { hostArchitecture, hostEmulator } from "./host-emulator.ts";
import { definitionXml } from "./machine-definition.ts";
import { keepTpmState } from "./persistent-tpm.ts";

interface LifecycleDependencies extends DaemonDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where state that outlives the launcher is kept. */
  readonly persistentDirectory?: string | undefined;
}

/** A machine that libvirt knows. */
export interface LibvirtMachine {
  /** As it is now: devices that come and go are in it. */
  definition: Domain;
  readonly handle: DomainHandle;
  /** Of the monitor, once it runs. */
  pid: number | undefined;
  status: DomainStatus;
}

/** Flags of libvirt's calls, by what they do. */
const flags = {
  validate: 1,
  startPaused: 1,
  pressButton: 1,
  /** Also what libvirt keeps besides: saved states, snapshots, checkpoints; firmware variables stay. */
  undefine: 1 | 2 | 8 | 16,
} as const;

const commandTimeoutMs = 20_000;
/** Under software emulation on a loaded node a start is seconds, not milliseconds. */
const startTimeoutMs = 120_000;
const maxLastWords = 1_000;
const crashed: DomainStatus = { state: "Crashed", reason: "Crashed" };

/** One machine at a time, run by the launcher's own libvirt daemon. */
export class LibvirtLifecycle implements Lifecycle {
  readonly daemon: LibvirtDaemon;
  readonly #dependencies: LifecycleDependencies;
  readonly #listeners = new Set<DomainEventListener>();
  #machine: LibvirtMachine | undefined;
  #starting: { readonly name: string; readonly done: Promise<void> } | undefined;

  constructor(dependencies: LifecycleDependencies) {
    this.#dependencies = dependencies;
    const { monitor: _, ...listened } = events;
    this.daemon = new LibvirtDaemon(dependencies, {
      // The keys of the table are the names.
      events: Object.keys(listened) as (keyof typeof listened)[],
      monitorEvents: listenedMonitorEvents,
      onEvent: (event) => this.#hear(event),
      onReconnect: (connection) => this.#catchUp(connection),
    });
  }

  async start(definition: Domain, options: StartOptions = {}): Promise<void> {
    await this.begin(
      definition,
      async (handle) => {
        const { domain } = await this.call(
          procedures.domainCreateWithFlags,
          { domain: handle, flags: options.paused === true ? flags.startPaused : 0 },
          `start ${definition.name}`,
          startTimeoutMs,
        );
        const status: DomainStatus =
          options.paused === true ? { state: "Paused", reason: "User" } : { state: "Running", reason: "Unknown" };
        return { handle: domain, status };
      },
      options.signal,
    );
  }

  /** Starts the daemon and lets it find out about the emulator that the first machine will most likely need. */
  async prepare(): Promise<void> {
    const about = { emulator: hostEmulator(), architecture: hostArchitecture() };
    const request = { ...about, machine: undefined, virtType: undefined, flags: 0 };
    await this.call(procedures.connectGetDomainCapabilities, request, "get ready for a machine", startTimeoutMs);
  }

  /** Defines a machine and lets `bringUp` do what makes it one; repeated for the same machine it does nothing. */
  async begin(definition: Domain, bringUp: BringUp, signal?: AbortSignal): Promise<void> {
    const name = definition.name ?? "";
    if (this.#starting?.name === name) return this.#starting.done;
    if (this.#machine?.definition.name === name && !hasEnded(this.#machine.status)) return;
    this.#refuseSecond(name);
    const done = this.#startNew(definition, bringUp, signal);
    this.#starting = { name, done };
    try {
      await done;
    } finally {
      this.#starting = undefined;
    }
  }

  async #startNew(definition: Domain, bringUp: BringUp, signal: AbortSignal | undefined): Promise<void> {
    const name = definition.name ?? "";
    const xml = definitionXml(definition);
    this.#refuseAborted(name, signal);
    await keepTpmState(definition, this.daemon.layout.config, this.#dependencies.persistentDirectory);
    const { domain } = await this.call(
      procedures.domainDefineXmlFlags,
      { xml, flags: flags.validate },
      `define ${name}`,
      startTimeoutMs,
    );
    const machine: LibvirtMachine = {
      definition,
      handle: domain,
      pid: undefined,
      status: { state: "Paused", reason: "StartingUp" },
    };
    this.#machine = machine;
    const destroy = (): void => void this.#destroy(domain).catch(() => undefined);
    signal?.addEventListener("abort", destroy, { once: true });
    try {
      this.#refuseAborted(name, signal);
      const { handle, status } = await bringUp(domain);
      this.#machine = { ...machine, handle, status: machine.status };
      this.#become(status);
    } catch (cause) {
      this.#machine = undefined;
      await this.#undefine(domain).catch(() => undefined);
      throw await this.#explainFailedStart(name, cause, signal);
    } finally {
      signal?.removeEventListener("abort", destroy);
    }
    void this.daemon.shareKnowledge();
  }

  async pause(): Promise<void> {
    const machine = this.running("pause");
    if (machine.status.state === "Paused") return;
    await this.call(procedures.domainSuspend, { domain: machine.handle }, "pause the machine");
    this.#become({ state: "Paused", reason: "User" });
  }

  async resume(): Promise<void> {
    const machine = this.running("resume");
    if (machine.status.state === "Running") return;
    await this.call(procedures.domainResume, { domain: machine.handle }, "resume the machine");
    this.#become({ state: "Running", reason: "Unknown" });
  }

  async reset(): Promise<void> {
    const { handle } = this.running("reset");
    await this.call(procedures.domainReset, { domain: handle, flags: 0 }, "reset the machine");
  }

  async shutdown(): Promise<void> {
    const { handle } = this.running("shut down");
    const request = { domain: handle, flags: flags.pressButton };
    await this.call(procedures.domainShutdownFlags, request, "shut down the machine");
  }

  async kill(): Promise<void> {
    const starting = this.#starting;
    const machine = this.#machine;
    if (machine !== undefined && !hasEnded(machine.status)) {
      await this.#destroy(machine.handle).catch((error: unknown) => this.#killDirectly(machine, error));
      if (this.#machine === machine && starting === undefined) this.#become({ state: "Shutoff", reason: "Destroyed" });
    }
    // Whoever waits for the start of a killed machine hears that it failed.
    await starting?.done.catch(() => undefined);
  }

  async forget(): Promise<void> {
    const machine = this.#machine;
    if (machine === undefined) return;
    if (!hasEnded(machine.status)) throw errors.StackDomainExists(`forget ${machine.definition.name}: it runs`);
    await this.#undefine(machine.handle);
    this.#machine = undefined;
  }

  domain(): RunningDomain | undefined {
    return this.#machine && { definition: this.#machine.definition, status: this.#machine.status };
  }

  subscribe(listener: DomainEventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    try {
      await this.kill();
    } finally {
      await this.daemon.close();
    }
  }

  /** The machine, for an operation that needs it to run. */
  running(operation: string): LibvirtMachine {
    if (this.#machine === undefined || hasEnded(this.#machine.status)) {
      throw errors.StackDomainNotFound(`${operation} the machine: none is running`);
    }
    return this.#machine;
  }

  async call<Args, Result>(
    procedure: Procedure<Args, Result>,
    args: Args,
    operation: string,
    /** Null for what takes as long as it takes. */
    timeoutMs: number | null = commandTimeoutMs,
  ): Promise<Result> {
    const connection = await this.daemon.connection();
    return connection.call(procedure, args, { operation, timeoutMs: timeoutMs ?? undefined });
  }

  /** The machine runs at another place now. */
  movedAway(): void {
    this.#become({ state: "Shutoff", reason: "Migrated" });
  }

  /** The machine came to pieces on its way to another place. */
  async lost(): Promise<void> {
    const machine = this.#machine;
    if (machine === undefined || hasEnded(machine.status)) return;
    const message = "the connection broke while the machine was moved by post-copy: each end had a part of its memory";
    this.#become({ ...crashed, message });
    await this.#destroy(machine.handle).catch((error: unknown) => this.#killDirectly(machine, error));
  }

  #hear(event: LibvirtEvent): void {
    if (event.name !== "lifecycle") {
      // libvirt resets machines itself while it starts them.
      if (this.#starting === undefined) for (const told of contractEvents(event)) this.report(told);
      return;
    }
    const { event: number, detail } = event.message.body;
    const status = lifecycleStatus(number, detail);
    if (status === undefined || this.#machine === undefined) return;
    // While it starts, only its end is news; the start itself is told when it is complete.
    if (this.#starting !== undefined && !hasEnded(status)) return;
    if (status.state === "Crashed") void this.#becomeCrashed(status);
    else this.#become(status);
  }

  /** Tells a change, once: what was done here is told at once, and libvirt's event about it comes a moment later. */
  #become(status: DomainStatus): void {
    const machine = this.#machine;
    if (machine === undefined || hasEnded(machine.status)) return;
    if (machine.status.state === status.state && (machine.status.reason === status.reason || isVague(status))) return;
    machine.status = status;
    machine.pid ??= this.daemon.processes.machine(machine.definition.name ?? "");
    this.report({ kind: "status", status });
  }

  async #becomeCrashed(status: DomainStatus): Promise<void> {
    const machine = this.#machine;
    if (machine === undefined || status.reason === "Panicked") return this.#become(status);
    const words = await this.#lastWords(machine.definition.name ?? "");
    const end = machine.pid === undefined ? undefined : this.daemon.processes.endOf(machine.pid);
    this.#become({ ...status, message: `QEMU ${describeEnd(end)}: ${words}` });
  }

  /** Tells everybody who listens. */
  report(event: DomainEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** A new daemon has read from its files which machine there was; whether it still runs, it says now. */
  async #catchUp(connection: LibvirtConnection): Promise<void> {
    const machine = this.#machine;
    if (machine === undefined || hasEnded(machine.status) || this.#starting !== undefined) return;
    const { state, reason } = await connection.call(
      procedures.domainGetState,
      { domain: machine.handle, flags: 0 },
      { operation: "find the machine again", timeoutMs: commandTimeoutMs },
    );
    // A new daemon takes a machine for running until it has tried to reach it, and tells nobody when it cannot.
    const isGone = machine.pid !== undefined && this.daemon.processes.endOf(machine.pid) !== undefined;
    const status = isGone ? crashed : statusOf(state, reason);
    if (status.state === "Crashed") await this.#becomeCrashed(status);
    else this.#become(status);
  }

  async #destroy(domain: DomainHandle): Promise<void> {
    await this.call(procedures.domainDestroyFlags, { domain, flags: 0 }, "end the machine");
  }

  async #undefine(domain: DomainHandle): Promise<void> {
    await this.call(procedures.domainUndefineFlags, { domain, flags: flags.undefine }, "forget the machine");
  }

  /** The daemon cannot end the machine: it has ended by itself, or the daemon is no help. */
  #killDirectly(machine: LibvirtMachine, error: unknown): void {
    this.#dependencies.logger.warn("libvirt cannot end the machine", { error });
    const pid = this.daemon.processes.machine(machine.definition.name ?? "");
    if (pid === undefined) return;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  }

  #refuseSecond(name: string): void {
    if (this.#starting !== undefined) {
      throw errors.StackDomainExists(`start ${name}: ${this.#starting.name} is being started`);
    }
    if (this.#machine === undefined) return;
    const state = hasEnded(this.#machine.status) ? "has ended and must be forgotten first" : "runs already";
    throw errors.StackDomainExists(`start ${name}: ${this.#machine.definition.name ?? ""} ${state}`);
  }

  #refuseAborted(name: string, signal: AbortSignal | undefined): void {
    if (signal?.aborted !== true) return;
    throw errors.StackStartFailed(`start ${name}: given up`, { cause: signal.reason });
  }

  async #explainFailedStart(name: string, cause: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    if (hasCode(cause, "StackStartFailed")) return cause;
    if (signal?.aborted === true) return errors.StackStartFailed(`start ${name}: given up`, { cause: signal.reason });
    return errors.StackStartFailed(`start ${name}: libvirt could not bring the machine up`, { cause });
  }

  /** The end of what QEMU wrote, which libvirt keeps in a file; the first lines are the command line. */
  async #lastWords(name: string): Promise<string> {
    try {
      const file = await open(join(this.daemon.layout.logs, `${name}.log`));
      try {
        const { size } = await file.stat();
        const length = Math.min(size, maxLastWords);
        const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
        const lines = buffer
          .toString()
          .split("\n")
          .filter((line) => line.trim() !== "");
        return lines.slice(-2).join("; ") || "it wrote nothing";
      } finally {
        await file.close();
      }
    } catch {
      return "it wrote nothing";
    }
  }
}

type BringUp = (handle: DomainHandle) => Promise<{ handle: DomainHandle; status: DomainStatus }>;

function describeEnd(end: ProcessEnd | undefined): string {
  if (end === undefined) return "ended";
  if (end.signal === undefined) return `ended with code ${end.code ?? "unknown"}`;
  const [name] = Object.entries(constants.signals).find(([, number]) => number === end.signal) ?? [
    `signal ${end.signal}`,
  ];
  return `was killed by ${name}`;
}

/** An event that does not know the reason must not overwrite one that is known. */
function isVague(status: DomainStatus): boolean {
  return status.reason === "Unknown";
}
