/** gRPC's framing of one message: a flag for compression, which is never used here, and the length. */
const headerBytes = 5;

/** Room for a screenshot or a long list of plug-ins, and a bound on what a peer can make us hold. */
export const defaultMaxMessageBytes = 16 * 1024 * 1024;

export function frameMessage(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + message.length);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headerBytes);
  return frame;
}

/** What is wrong with the bytes of a peer; the caller decides which status that is. */
export class FrameError extends Error {
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge = false) {
    super(message);
    this.tooLarge = tooLarge;
  }
}

/** Takes the messages of a streaming call out of its bytes, as they come. */
export class MessageSplitter {
  readonly #maxBytes: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The messages that are complete now. */
  push(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    while (this.#rest.length >= headerBytes) {
      if (this.#rest.readUInt8(0) !== 0) throw new FrameError("a message is compressed, which was not offered");
      const length = this.#rest.readUInt32BE(1);
      if (length > this.#maxBytes) throw new FrameError(`a message is larger than ${this.#maxBytes} bytes`, true);
      if (this.#rest.length < headerBytes + length) break;
      messages.push(this.#rest.subarray(headerBytes, headerBytes + length));
      this.#rest = this.#rest.subarray(headerBytes + length);
    }
    return messages;
  }
}

/** Collects the one message of a unary call. */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws as soon as more has come than is allowed. */
  push(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > this.#maxBytes + headerBytes) {
      throw new FrameError(`a message is larger than ${this.#maxBytes} bytes`, true);
    }
    this.#chunks.push(chunk);
  }

  /** The message, once all has come. */
  finish(): Buffer {
    const all = Buffer.concat(this.#chunks);
    if (all.length < headerBytes) throw new FrameError("a message is missing");
    if (all.readUInt8(0) !== 0) throw new FrameError("a message is compressed, which was not offered");
    if (all.readUInt32BE(1) !== all.length - headerBytes)
      throw new FrameError("a message has not the length that it says");
    return all.subarray(headerBytes);
  }
}
