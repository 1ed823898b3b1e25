import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Domain } from "@polyvirt/domain";
import { systemClock, type Clock, type Timer } from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { Migration, MigrationOptions, MigrationProgress, PostCopySupport, ReceiveOptions } from "../migration.ts";
import type { GuestMemory } from "./fake-guest.ts";
import type { FakeLifecycle } from "./fake-lifecycle.ts";

/** What is said between the two ends, a line of JSON each. */
type Word =
  | { readonly kind: "hello"; readonly postCopy: boolean }
  /** From here on the guest runs at the target. */
  | { readonly kind: "run"; readonly memory: GuestMemory }
  /** All of its memory has left. */
  | { readonly kind: "done" };

/** As much as a fake machine has to be copied of. */
const totalBytes = 1024 * 1024;

interface Move {
  readonly socket: Socket;
  readonly bytesPerMs: number;
  readonly allowPostCopy: boolean;
  readonly startedMs: number;
  phase: MigrationProgress["phase"];
  timer: Timer;
}

/** Moves a guest that is only pretended to another fake stack, at the speed and with the words of the contract. */
export class FakeMigration implements Migration {
  readonly #lifecycle: FakeLifecycle;
  readonly #clock: Clock;
  #move: Move | undefined;

  constructor(lifecycle: FakeLifecycle, clock: Clock = systemClock) {
    this.#lifecycle = lifecycle;
    this.#clock = clock;
  }

  async postCopy(): Promise<PostCopySupport> {
    return { supported: true };
  }

  async receive(definition: Domain, socketPath: string, options: ReceiveOptions = {}): Promise<void> {
    const arrival = await this.#lifecycle.await(definition);
    const server = createServer((socket) => {
      let arrived: "nothing" | "running" | "everything" = "nothing";
      hear(socket, (word) => {
        if (word.kind === "hello" && word.postCopy && options.allowPostCopy !== true) socket.destroy();
        if (word.kind === "run") arrival.run(word.memory);
        arrived = word.kind === "run" ? "running" : word.kind === "done" ? "everything" : arrived;
        socket.write("{}\n");
      });
      socket.on("close", () => {
        server.close();
        if (arrived === "nothing") arrival.giveUp();
        if (arrived === "running") arrival.lost();
      });
      arrival.onEnd(() => socket.destroy());
    });
    arrival.onEnd(() => server.close());
    rmSync(socketPath, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(socketPath, resolve);
    });
  }

  async send(socketPath: string, options: MigrationOptions): Promise<void> {
    const machine = this.#lifecycle.running("move");
    const allowPostCopy = options.allowPostCopy === true;
    const socket = await dial(socketPath);
    const speed = options.bandwidthBytesPerSecond ?? 0;
    const done = new Promise<void>((resolve, reject) => {
      const move: Move = {
        socket,
        bytesPerMs: speed === 0 ? Number.POSITIVE_INFINITY : speed / 1000,
        allowPostCopy,
        startedMs: this.#clock.monotonic(),
        phase: "active",
        timer: this.#clock.setTimer(speed === 0 ? 0 : (totalBytes * 1000) / speed, () => {
          if (move.phase === "active") say(socket, { kind: "run", memory: machine.guest.freeze() });
          move.phase = "completed";
          say(socket, { kind: "done" });
          socket.end();
        }),
      };
      this.#move = move;
      socket.on("close", () => {
        move.timer.cancel();
        this.#conclude(move, resolve, reject);
      });
      say(socket, { kind: "hello", postCopy: allowPostCopy });
    });
    await done;
    this.#lifecycle.movedAway();
  }

  async startPostCopy(): Promise<void> {
    const machine = this.#lifecycle.running("move by post-copy");
    const move = this.#move;
    if (move?.phase !== "active" || !move.allowPostCopy) {
      throw errors.StackCommandFailed("move the machine by post-copy: no move that allows it is under way");
    }
    move.phase = "postcopy";
    say(move.socket, { kind: "run", memory: machine.guest.freeze() });
  }

  async cancel(): Promise<void> {
    this.#lifecycle.running("stop moving");
    if (this.#move?.phase === "postcopy") {
      throw errors.StackCommandFailed("stop moving the machine: it runs at the target, and part of its memory is here");
    }
    if (this.#move?.phase !== "active") return;
    this.#move.phase = "cancelled";
    this.#move.socket.destroy();
  }

  async progress(): Promise<MigrationProgress> {
    this.#lifecycle.running("look at the move of");
    const move = this.#move;
    if (move === undefined) return { phase: "none", totalBytes: 0, remainingBytes: 0 };
    const sent = (this.#clock.monotonic() - move.startedMs) * move.bytesPerMs;
    return { phase: move.phase, totalBytes, remainingBytes: Math.max(0, Math.round(totalBytes - sent)) };
  }

  #conclude(move: Move, resolve: () => void, reject: (error: Error) => void): void {
    if (move.phase === "completed") return resolve();
    if (move.phase === "postcopy") {
      this.#lifecycle.crash("the connection broke while the machine was moved by post-copy");
      return reject(errors.StackCommandFailed("move the machine: it is lost, because post-copy did not finish"));
    }
    const why = move.phase === "cancelled" ? "it was cancelled" : "the target went away";
    move.phase = move.phase === "cancelled" ? "cancelled" : "failed";
    reject(errors.StackCommandFailed(`move the machine: ${why}; it runs on here`));
  }
}

function dial(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket));
    socket.on("error", (cause) => {
      reject(errors.StackCommandFailed(`move the machine: nobody waits for it at ${path}; it runs on here`, { cause }));
      socket.destroy();
    });
    socket.resume();
  });
}

function say(socket: Socket, word: Word): void {
  socket.write(`${JSON.stringify(word)}\n`);
}

function hear(socket: Socket, listener: (word: Word) => void): void {
  socket.on("error", () => socket.destroy());
  // Both ends are of this file.
  createInterface({ input: socket }).on("line", (line) => listener(JSON.parse(line) as Word));
}
