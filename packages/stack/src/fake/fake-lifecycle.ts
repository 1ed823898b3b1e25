import { existsSync } from "node:fs";
import type { Domain } from "@polyvirt/domain";
import {
  hasEnded,
  type DomainEvent,
  type DomainEventListener,
  type DomainStatus,
  type Lifecycle,
  type RunningDomain,
  type StartOptions,
} from "../contract.ts";
import { errors } from "../errors.ts";
import { FakeGuest, type GuestMemory } from "./fake-guest.ts";

interface FakeMachine {
  readonly definition: Domain;
  readonly guest: FakeGuest;
  status: DomainStatus;
}

/** What becomes of a machine that is to come from elsewhere. */
interface Arrival {
  run(memory: GuestMemory): void;
  /** It will not come. */
  giveUp(): void;
  /** It came, but not all of it. */
  lost(): void;
  onEnd(listener: () => void): void;
}

/** Life and death of a machine that is only pretended, with the states, reasons and errors of the contract. */
export class FakeLifecycle implements Lifecycle {
  readonly #listeners = new Set<DomainEventListener>();
  #machine: FakeMachine | undefined;
  #starting: Promise<void> | undefined;

  async start(definition: Domain, options: StartOptions = {}): Promise<void> {
    const current = this.#machine;
    if (current !== undefined) {
      const same = current.definition.name === definition.name && !hasEnded(current.status);
      if (same) return this.#starting;
      throw errors.StackDomainExists(`start ${definition.name}: ${current.definition.name} is there`);
    }
    this.#starting = this.#startNew(definition, options);
    await this.#starting;
  }

  async pause(): Promise<void> {
    const machine = this.running("pause");
    if (machine.status.state === "Paused") return;
    machine.guest.stop();
    this.#change(machine, { state: "Paused", reason: "User" });
  }

  async resume(): Promise<void> {
    const machine = this.running("resume");
    if (machine.status.state === "Running") return;
    this.#change(machine, { state: "Running", reason: "Unknown" });
    machine.guest.run();
  }

  async reset(): Promise<void> {
    this.running("reset").guest.restart();
    this.#emit({ kind: "reset", byGuest: false });
  }

  async shutdown(): Promise<void> {
    this.running("shut down").guest.pressButton();
  }

  async kill(): Promise<void> {
    const machine = this.#machine;
    if (machine !== undefined && !hasEnded(machine.status))
      this.#end(machine, { state: "Shutoff", reason: "Destroyed" });
  }

  async forget(): Promise<void> {
    const machine = this.#machine;
    if (machine !== undefined && !hasEnded(machine.status)) {
      throw errors.StackDomainExists(`forget ${machine.definition.name}: it runs`);
    }
    this.#machine = undefined;
  }

  /** A machine that is to come from elsewhere. */
  async await(definition: Domain): Promise<Arrival> {
    if (this.#machine !== undefined) {
      throw errors.StackDomainExists(`receive ${definition.name}: ${this.#machine.definition.name} is there`);
    }
    const machine = await this.#make(definition);
    this.#change(machine, { state: "Paused", reason: "Migration" });
    const isHere = (): boolean => this.#machine === machine && !hasEnded(machine.status);
    return {
      run: (memory) => {
        if (!isHere()) return;
        machine.guest.remember(memory);
        this.#change(machine, { state: "Running", reason: "Unknown" });
        machine.guest.run();
      },
      giveUp: () => {
        if (isHere()) this.#end(machine, { state: "Shutoff", reason: "Destroyed" });
      },
      lost: () => {
        const message = "the connection broke while the machine was moved by post-copy";
        if (isHere()) this.#end(machine, { state: "Crashed", reason: "Crashed", message });
      },
      onEnd: (listener) => {
        const stop = this.subscribe((event) => {
          if (event.kind !== "status" || !hasEnded(event.status)) return;
          stop();
          listener();
        });
      },
    };
  }

  /** The machine runs at another place now. */
  movedAway(): void {
    this.#end(this.running("move"), { state: "Shutoff", reason: "Migrated" });
  }

  /** What a test does to the machine behind the stack's back. */
  crash(message: string): void {
    this.#end(this.running("crash"), { state: "Crashed", reason: "Crashed", message });
  }

  domain(): RunningDomain | undefined {
    return this.#machine && { definition: this.#machine.definition, status: this.#machine.status };
  }

  subscribe(listener: DomainEventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  running(operation: string): FakeMachine {
    if (this.#machine === undefined || hasEnded(this.#machine.status)) {
      throw errors.StackDomainNotFound(`${operation} the machine: none is running`);
    }
    return this.#machine;
  }

  async #startNew(definition: Domain, options: StartOptions): Promise<void> {
    if (definition.type !== "test" && definition.type !== "qemu") {
      throw errors.StackDefinitionRefused(
        `read type: the fake stack has no ${definition.type ?? "machine without a type"}`,
      );
    }
    if (options.signal?.aborted === true) throw errors.StackStartFailed(`start ${definition.name}: given up`);
    const machine = await this.#make(definition);
    if (options.paused === true) return this.#change(machine, { state: "Paused", reason: "User" });
    this.#change(machine, { state: "Running", reason: "Unknown" });
    machine.guest.run();
  }

  async #make(definition: Domain): Promise<FakeMachine> {
    const missing = (definition.devices?.disks ?? []).find((disk) => !existsSync(disk.source?.file ?? ""));
    if (missing !== undefined)
      throw errors.StackStartFailed(`start ${definition.name}: no file ${missing.source?.file}`);
    const guest: FakeGuest = new FakeGuest(definition, {
      powerOff: () => this.#end(machine, { state: "Shutoff", reason: "Shutdown", message: "the guest powered off" }),
      panic: () => {
        this.#emit({ kind: "guestPanicked", message: "the guest gave no details" });
        this.#end(machine, { state: "Crashed", reason: "Panicked", message: "the guest panicked" });
      },
      reboot: () => {
        guest.restart();
        this.#emit({ kind: "reset", byGuest: true });
      },
    });
    const machine: FakeMachine = { definition, guest, status: { state: "Paused", reason: "StartingUp" } };
    this.#machine = machine;
    await guest.plugIn(definition);
    return machine;
  }

  #end(machine: FakeMachine, status: DomainStatus): void {
    machine.guest.unplug();
    this.#change(machine, status);
  }

  #change(machine: FakeMachine, status: DomainStatus): void {
    machine.status = status;
    this.#emit({ kind: "status", status });
  }

  #emit(event: DomainEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
