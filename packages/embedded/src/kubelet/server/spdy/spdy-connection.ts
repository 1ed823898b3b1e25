import type { Duplex } from "node:stream";
import { HeaderDecoder, HeaderEncoder } from "./header-codec.ts";

/** A stream that the client opened. */
export interface SpdyStream {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  onData(listener: (data: Buffer) => void): void;
  /** The client sends no more, or took the stream back. */
  onEnd(listener: (reset: boolean) => void): void;
  write(data: Buffer): void;
  /** Nothing more comes from us. */
  end(): void;
  reset(): void;
}

interface StreamState {
  readonly data: ((data: Buffer) => void)[];
  readonly ends: ((reset: boolean) => void)[];
  ended: boolean;
}

const types = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;
const flagFin = 1;
const version = 3;
const statusCancel = 5;
const maxFrameBytes = 1024 * 1024;
const writeBytes = 16 * 1024;
const initialWindow = 64 * 1024;

/**
 * The server's side of SPDY/3.1, as far as Kubernetes' port-forward uses it: streams that the client opens, data both ways.
 * Kubernetes' own library neither keeps nor enforces flow-control windows, so windows are only announced, not waited for.
 */
export class SpdyConnection {
  readonly #socket: Duplex;
  readonly #onStream: (stream: SpdyStream) => void;
  readonly #decoder = new HeaderDecoder();
  readonly #encoder = new HeaderEncoder();
  readonly #streams = new Map<number, StreamState>();
  #buffer: Buffer = Buffer.alloc(0);
  /** Frames are handled and written in order, although headers take a moment to (de)compress. */
  #incoming: Promise<void> = Promise.resolve();
  #outgoing: Promise<void> = Promise.resolve();

  constructor(socket: Duplex, onStream: (stream: SpdyStream) => void) {
    this.#socket = socket;
    this.#onStream = onStream;
  }

  start(): void {
    const socket = this.#socket;
    socket.on("data", (data: Buffer) => this.#receive(data));
    socket.once("close", () => this.#close());
    socket.once("end", () => socket.end());
  }

  #close(): void {
    for (const id of this.#streams.keys()) this.#end(id, true);
    this.#decoder.close();
    this.#encoder.close();
  }

  #receive(data: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, data]);
    while (this.#buffer.length >= 8) {
      const length = this.#buffer.readUIntBE(5, 3);
      if (length > maxFrameBytes) return void this.#socket.destroy();
      if (this.#buffer.length < 8 + length) return;
      const frame = Buffer.from(this.#buffer.subarray(0, 8 + length));
      this.#buffer = this.#buffer.subarray(8 + length);
      this.#incoming = this.#incoming.then(() => this.#handle(frame)).catch(() => void this.#socket.destroy());
    }
  }

  async #handle(frame: Buffer): Promise<void> {
    const flags = frame.readUInt8(4);
    const body = frame.subarray(8);
    const isControl = (frame.readUInt8(0) & 0x80) !== 0;
    if (!isControl) return this.#data(frame.readUInt32BE(0), flags, body);
    switch (frame.readUInt16BE(2)) {
      case types.synStream:
        return this.#open(body, flags);
      case types.rstStream:
        return this.#end(body.readUInt32BE(0), true);
      case types.ping:
        return this.#control(types.ping, 0, body);
      case types.headers:
        await this.#decoder.decode(body.subarray(4));
        return;
      default:
        // Settings, window updates and good-byes need no answer.
        return;
    }
  }

  #data(id: number, flags: number, body: Buffer): void {
    const state = this.#streams.get(id);
    if (state !== undefined && body.length > 0) {
      for (const listener of state.data) listener(body);
      this.#control(types.windowUpdate, 0, words(id, Math.min(body.length, initialWindow)));
    }
    if ((flags & flagFin) !== 0) this.#end(id, false);
  }

  async #open(body: Buffer, flags: number): Promise<void> {
    const id = body.readUInt32BE(0) & 0x7fffffff;
    const headers = await this.#decoder.decode(body.subarray(10));
    const state: StreamState = { data: [], ends: [], ended: false };
    this.#streams.set(id, state);
    this.#outgoing = this.#outgoing.then(() => this.#reply(id));
    this.#onStream({
      id,
      headers,
      onData: (listener) => void state.data.push(listener),
      onEnd: (listener) => void state.ends.push(listener),
      write: (data) => this.#send(id, data),
      end: () => this.#later(dataFrame(id, flagFin, Buffer.alloc(0))),
      reset: () => {
        this.#control(types.rstStream, 0, words(id, statusCancel));
        this.#end(id, true);
      },
    });
    if ((flags & flagFin) !== 0) this.#end(id, false);
  }

  async #reply(id: number): Promise<void> {
    const block = await this.#encoder.encode(new Map());
    this.#write(controlFrame(types.synReply, 0, Buffer.concat([words(id), block])));
  }

  #end(id: number, reset: boolean): void {
    const state = this.#streams.get(id);
    if (state === undefined || (state.ended && !reset)) return;
    state.ended = true;
    if (reset) this.#streams.delete(id);
    for (const listener of state.ends) listener(reset);
  }

  #send(id: number, data: Buffer): void {
    for (let start = 0; start < data.length; start += writeBytes) {
      this.#later(dataFrame(id, 0, data.subarray(start, start + writeBytes)));
    }
  }

  #control(type: number, flags: number, body: Buffer): void {
    this.#later(controlFrame(type, flags, body));
  }

  /** After what waits for its headers to be compressed. */
  #later(frame: Buffer): void {
    this.#outgoing = this.#outgoing.then(() => this.#write(frame)).catch(() => void this.#socket.destroy());
  }

  #write(frame: Buffer): void {
    if (this.#socket.writable) this.#socket.write(frame);
  }
}

function controlFrame(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt8(flags, 4);
  head.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([head, body]);
}

function dataFrame(id: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(id & 0x7fffffff, 0);
  head.writeUInt8(flags, 4);
  head.writeUIntBE(body.length, 5, 3);
  return Buffer.concat([head, body]);
}

function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => buffer.writeUInt32BE(value >>> 0, index * 4));
  return buffer;
}
