import { errors } from "@polyvirt/stack";
import type { Duplex } from "node:stream";
import type { Clock, Timer } from "@polyvirt/core";
import { JsonLines } from "./json-lines.ts";

/** Longest line that QEMU may send: `query-qmp-schema` has a few hundred kilobytes. */
const maxLineBytes = 8 * 1024 * 1024;

export interface QmpEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface ExecuteOptions {
  readonly timeoutMs?: number;
}

/** QEMU's monitor: commands with answers, and events that come by themselves. */
export interface QmpClient {
  /** QEMU's version from the greeting, for example `7.2.22`. */
  readonly version: string;
  execute(command: string, args?: Readonly<Record<string, unknown>>, options?: ExecuteOptions): Promise<unknown>;
  close(): void;
}

interface QmpDependencies {
  readonly connection: Duplex;
  readonly clock: Pick<Clock, "setTimer">;
  /** Called in order, also for events that arrive before the greeting is answered. */
  readonly onEvent: (event: QmpEvent) => void;
  /** Limit for the greeting and for commands that set none. */
  readonly timeoutMs: number;
}

interface PendingCommand {
  readonly command: string;
  readonly timer: Timer;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Waits for QEMU's greeting, leaves negotiation mode and returns a client that is ready for commands. */
export async function connectQmp(dependencies: QmpDependencies): Promise<QmpClient> {
  const session = new QmpSession(dependencies);
  const version = await session.greeting;
  await session.execute("qmp_capabilities", {});
  return {
    version,
    execute: (command, args = {}, options = {}) => session.execute(command, args, options),
    close: () => session.end(errors.StackVmmGone("talk to QEMU's monitor: the connection was closed by the launcher")),
  };
}

class QmpSession {
  readonly greeting: Promise<string>;
  readonly #dependencies: QmpDependencies;
  readonly #pending = new Map<number, PendingCommand>();
  readonly #lines = new JsonLines(maxLineBytes);
  #nextId = 1;
  #ended: Error | undefined;
  #greeter: Omit<PendingCommand, "command"> | undefined;

  constructor(dependencies: QmpDependencies) {
    this.#dependencies = dependencies;
    this.greeting = new Promise((resolve, reject) => {
      const timer = dependencies.clock.setTimer(dependencies.timeoutMs, () =>
        this.end(errors.StackTimeout(`connect to QEMU's monitor: no greeting within ${dependencies.timeoutMs} ms`)),
      );
      this.#greeter = { timer, reject, resolve: (value) => resolve(String(value)) };
    });
    const { connection } = dependencies;
    connection.on("data", (chunk: Buffer) => this.#receive(chunk));
    connection.on("error", (cause) => this.end(errors.StackVmmGone("talk to QEMU's monitor", { cause })));
    connection.on("close", () => this.end(errors.StackVmmGone("talk to QEMU's monitor: QEMU closed the connection")));
  }

  execute(command: string, args: Readonly<Record<string, unknown>>, options: ExecuteOptions = {}): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const timeoutMs = options.timeoutMs ?? this.#dependencies.timeoutMs;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = this.#dependencies.clock.setTimer(timeoutMs, () => {
        // A late answer finds its id gone and is dropped.
        this.#pending.delete(id);
        reject(errors.StackTimeout(`run QMP command ${command}: no answer within ${timeoutMs} ms`));
      });
      this.#pending.set(id, { command, timer, resolve, reject });
      this.#dependencies.connection.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
    });
  }

  end(reason: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#greeter?.timer.cancel();
    this.#greeter?.reject(reason);
    for (const pending of this.#pending.values()) {
      pending.timer.cancel();
      pending.reject(reason);
    }
    this.#pending.clear();
    this.#dependencies.connection.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#ended !== undefined) return;
    try {
      for (const value of this.#lines.push(chunk)) this.#dispatch(asObject(value));
    } catch (cause) {
      this.end(errors.StackVmmGone("talk to QEMU's monitor: it sent something that is not QMP", { cause }));
    }
  }

  #dispatch(message: Readonly<Record<string, unknown>>): void {
    if ("QMP" in message) {
      this.#greeter?.timer.cancel();
      this.#greeter?.resolve(readVersion(asObject(message["QMP"])));
    } else if (typeof message["event"] === "string") {
      this.#dependencies.onEvent({ name: message["event"], data: asObject(message["data"]) });
    } else {
      this.#answer(message);
    }
  }

  #answer(message: Readonly<Record<string, unknown>>): void {
    const pending = this.#pending.get(Number(message["id"]));
    if (pending === undefined) return;
    this.#pending.delete(Number(message["id"]));
    pending.timer.cancel();
    if ("error" in message) {
      const { desc, class: errorClass } = asObject(message["error"]);
      const fields = { command: pending.command, class: String(errorClass) };
      pending.reject(errors.StackCommandFailed(`run QMP command ${pending.command}: ${String(desc)}`, { fields }));
    } else {
      pending.resolve(message["return"]);
    }
  }
}

function readVersion(greeting: Readonly<Record<string, unknown>>): string {
  const { major, minor, micro } = asObject(asObject(greeting["version"])["qemu"]);
  return `${Number(major)}.${Number(minor)}.${Number(micro)}`;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // JSON objects have string keys; anything else is looked up as if empty.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
