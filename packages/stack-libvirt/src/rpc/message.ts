import { int, struct, uint, type Infer } from "./xdr.ts";

/** Every message is its own length (4 bytes, included), this header, and what the procedure's layout says. */
export const header = struct({
  program: uint,
  version: uint,
  procedure: int,
  type: int,
  serial: uint,
  status: int,
});
export type Header = Infer<typeof header>;

export const headerBytes = 24;
export const lengthBytes = 4;
/** libvirt's own limit. */
const maxMessageBytes = 32 * 1024 * 1024;

export const messageTypes = { call: 0, reply: 1, message: 2, stream: 3 } as const;
export const statuses = { ok: 0, error: 1, continue: 2 } as const;

/** Cuts what arrives into messages. */
export class MessageReader {
  #chunks: Buffer = Buffer.alloc(0);

  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks = this.#chunks.length === 0 ? chunk : Buffer.concat([this.#chunks, chunk]);
    while (this.#chunks.length >= lengthBytes) {
      const length = this.#chunks.readUInt32BE();
      if (length < lengthBytes + headerBytes || length > maxMessageBytes) {
        throw new RangeError(`a message of ${length} bytes cannot be`);
      }
      if (this.#chunks.length < length) return;
      yield this.#chunks.subarray(lengthBytes, length);
      this.#chunks = this.#chunks.subarray(length);
    }
  }
}
