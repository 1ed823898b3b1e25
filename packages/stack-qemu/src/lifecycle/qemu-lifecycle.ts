import type { Domain } from "@polyvirt/domain";
import {
  errors,
  hasEnded,
  type DomainEvent,
  type DomainEventListener,
  type Lifecycle,
  type RunningDomain,
  type StartOptions,
} from "@polyvirt/stack";
import { buildArguments, type QemuCommand } from "../arguments/build-arguments.ts";
import type { MachineHost } from "../arguments/machine-plan.ts";
import type { QmpEvent } from "../qmp/qmp-client.ts";
import { checkNeeds, startCompanions } from "../process/companions.ts";
import { QemuMachine, type Arrival, type MachineDependencies, type MachineListener } from "./qemu-machine.ts";

interface LifecycleDependencies extends MachineDependencies {
  readonly directories: Pick<MachineHost, "stateDirectory" | "persistentDirectory">;
}

type BringUp = (machine: QemuMachine, command: QemuCommand) => Promise<void>;

/** One machine at a time, and everything that the launcher may do to it as a whole. */
export class QemuLifecycle implements Lifecycle {
  readonly #dependencies: LifecycleDependencies;
  readonly #listeners = new Set<DomainEventListener>();
  readonly #monitorListeners = new Set<(event: QmpEvent) => void>();
  #machine: QemuMachine | undefined;
  #starting: { readonly name: string; readonly done: Promise<void> } | undefined;

  constructor(dependencies: LifecycleDependencies) {
    this.#dependencies = dependencies;
  }

  async start(definition: Domain, options: StartOptions = {}): Promise<void> {
    await this.#begin(definition, [], (machine, command) => machine.bringUp(command, options));
  }

  /** Starts a machine that is filled from another one; it runs when the move is complete and somebody resumes it. */
  async receive(definition: Domain, arrival: Arrival): Promise<void> {
    await this.#begin(definition, ["-incoming", "defer"], (machine, command) => machine.receive(command, arrival));
  }

  async #begin(definition: Domain, extraArguments: readonly string[], bringUp: BringUp): Promise<void> {
    const name = definition.name ?? "";
    if (this.#starting?.name === name) return this.#starting.done;
    if (this.#isRunning(name)) return;
    this.#refuseSecond(name);
    const done = this.#startNew(definition, extraArguments, bringUp);
    this.#starting = { name, done };
    try {
      await done;
    } finally {
      this.#starting = undefined;
    }
  }

  async #startNew(definition: Domain, extraArguments: readonly string[], bringUp: BringUp): Promise<void> {
    const { clock, logger, directories } = this.#dependencies;
    const command = buildArguments(definition, { now: clock.now(), ...directories });
    checkNeeds(definition.name ?? "the machine", command.needs);
    const companions = await startCompanions(command.companions, { clock, logger });
    const listener: MachineListener = {
      onEvent: (event) => this.report(event),
      onMonitorEvent: (event) => {
        for (const hear of this.#monitorListeners) hear(event);
      },
    };
    try {
      this.#machine = await QemuMachine.spawn(definition, command, this.#dependencies, listener, extraArguments);
      await bringUp(this.#machine, command);
    } catch (error) {
      this.#machine = undefined;
      companions.stop();
      throw error;
    }
    void this.#machine.ended.then(() => companions.stop());
  }

  pause(): Promise<void> {
    return this.running("pause").pause();
  }

  resume(): Promise<void> {
    return this.running("resume").resume();
  }

  async reset(): Promise<void> {
    await this.running("reset").monitor.execute("system_reset");
  }

  async shutdown(): Promise<void> {
    await this.running("shut down").monitor.execute("system_powerdown");
  }

  async kill(): Promise<void> {
    const starting = this.#starting;
    if (this.#machine !== undefined && !hasEnded(this.#machine.status)) await this.#machine.kill();
    // Whoever waits for the start of a killed machine hears that it failed.
    await starting?.done.catch(() => undefined);
  }

  async forget(): Promise<void> {
    if (this.#machine === undefined) return;
    if (!hasEnded(this.#machine.status))
      throw errors.StackDomainExists(`forget ${this.#machine.definition.name}: it runs`);
    this.#machine = undefined;
  }

  domain(): RunningDomain | undefined {
    return this.#machine === undefined
      ? undefined
      : { definition: this.#machine.definition, status: this.#machine.status };
  }

  subscribe(listener: DomainEventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The machine, for an operation that needs it to run. */
  running(operation: string): QemuMachine {
    if (this.#machine === undefined || hasEnded(this.#machine.status)) {
      throw errors.StackDomainNotFound(`${operation} the machine: none is running`);
    }
    return this.#machine;
  }

  /** Does nothing for the machine that runs already, so that a start may be repeated. */
  #isRunning(name: string): boolean {
    return this.#machine !== undefined && this.#machine.definition.name === name && !hasEnded(this.#machine.status);
  }

  #refuseSecond(name: string): void {
    if (this.#starting !== undefined) {
      throw errors.StackDomainExists(`start ${name}: ${this.#starting.name} is being started`);
    }
    if (this.#machine === undefined) return;
    const state = hasEnded(this.#machine.status) ? "has ended and must be forgotten first" : "runs already";
    throw errors.StackDomainExists(`start ${name}: ${this.#machine.definition.name ?? ""} ${state}`);
  }

  /** The version of the QEMU that runs; undefined when none does. */
  monitorVersion(): string | undefined {
    return this.#machine === undefined || hasEnded(this.#machine.status) ? undefined : this.#machine.version;
  }

  /** For parts of the stack that understand QEMU's own events. Returns how to stop it. */
  onMonitorEvent(listener: (event: QmpEvent) => void): () => void {
    this.#monitorListeners.add(listener);
    return () => this.#monitorListeners.delete(listener);
  }

  /** Tells everybody who listens. */
  report(event: DomainEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
