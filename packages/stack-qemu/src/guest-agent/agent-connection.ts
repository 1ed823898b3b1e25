import { errors } from "@polyvirt/stack";
import { randomInt } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { Clock, Timer } from "@polyvirt/core";
import { JsonLines } from "../qmp/json-lines.ts";

/** SAFETY: everything here was written by the guest. A longer line than this ends the connection. */
const maxLineBytes = 1024 * 1024;

interface PendingRequest {
  readonly command: string;
  readonly timer: Timer;
  /** Whether this is meant; what is not is somebody's older answer and is thrown away. */
  readonly isAnswer?: (value: unknown) => boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * One conversation with the guest's agent: one command at a time, in order. The agent has no ids; so after a command was
 * given up, whatever comes is thrown away until the agent has repeated a number that we sent it.
 */
export class AgentConnection {
  readonly #clock: Pick<Clock, "setTimer">;
  readonly #path: string;
  #socket: Socket | undefined;
  #lines = new JsonLines(maxLineBytes);
  #pending: PendingRequest | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #synchronized = false;

  constructor(path: string, clock: Pick<Clock, "setTimer">) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Holds the channel open; a guest whose channel nobody listens on wastes time looking at it. */
  open(): Promise<void> {
    if (this.#socket !== undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const socket = connect(this.#path, () => {
        this.#socket = socket;
        resolve();
      });
      socket.on("data", (chunk: Buffer) => this.#receive(chunk));
      socket.on("error", (cause) => {
        reject(unavailable("connect to the guest agent's channel", cause));
        this.#drop(cause);
      });
      socket.on("close", () => this.#drop(undefined));
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#drop(undefined);
  }

  /** The agent restarted, or came and went: what was agreed on no longer holds. */
  forgetSynchronization(): void {
    this.#synchronized = false;
  }

  execute(command: string, args: object | undefined, timeoutMs: number): Promise<unknown> {
    const run = async (): Promise<unknown> => {
      await this.open();
      await this.#synchronize(timeoutMs);
      return this.#send(command, args, timeoutMs);
    };
    const result = this.#queue.then(run, run);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #synchronize(timeoutMs: number): Promise<void> {
    if (this.#synchronized) return;
    const id = randomInt(1, 2 ** 31);
    // The byte makes the agent forget half a command that an earlier client may have left.
    this.#socket?.write(Buffer.from([0xff]));
    this.#lines = new JsonLines(maxLineBytes);
    // The agent answers the byte too, with an error, and maybe older commands: all that is not our number is theirs.
    await this.#send("guest-sync", { id }, timeoutMs, (answer) => answer === id);
    this.#synchronized = true;
  }

  #send(
    command: string,
    args: object | undefined,
    timeoutMs: number,
    isAnswer?: PendingRequest["isAnswer"],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(timeoutMs, () => {
        this.#pending = undefined;
        this.#synchronized = false;
        reject(unavailable(`run ${command} in the guest: the agent gave no answer within ${timeoutMs} ms`));
      });
      this.#pending = { command, timer, resolve, reject, ...(isAnswer && { isAnswer }) };
      this.#socket?.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }) })}\n`);
    });
  }

  #receive(chunk: Buffer): void {
    try {
      // The agent answers a synchronization with the same byte; it is no JSON.
      const values = this.#lines.push(Buffer.from(chunk.filter((byte) => byte !== 0xff)));
      for (const value of values) this.#answer(asObject(value));
    } catch (cause) {
      // Not an agent's answer: end the conversation, the next command begins a new one.
      this.#socket?.destroy(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  #answer(message: Readonly<Record<string, unknown>>): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    if (pending.isAnswer !== undefined && !pending.isAnswer(message["return"])) return;
    this.#pending = undefined;
    pending.timer.cancel();
    if (!("error" in message)) return pending.resolve(message["return"]);
    const { desc } = asObject(message["error"]);
    const words = typeof desc === "string" ? desc.slice(0, 500) : "no reason given";
    pending.reject(errors.StackCommandFailed(`run ${pending.command} in the guest: ${words}`));
  }

  #drop(cause: Error | undefined): void {
    this.#socket = undefined;
    this.#synchronized = false;
    this.#lines = new JsonLines(maxLineBytes);
    this.#pending?.timer.cancel();
    this.#pending?.reject(unavailable(`run ${this.#pending.command} in the guest: the channel was closed`, cause));
    this.#pending = undefined;
  }
}

function unavailable(message: string, cause?: unknown): Error {
  return errors.StackGuestAgentUnavailable(message, cause === undefined ? {} : { cause });
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // JSON objects have string keys; anything else is looked up as if empty.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
