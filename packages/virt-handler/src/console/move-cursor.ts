import type { Socket } from "node:net";

const LIMIT_MS = 5_000;
const NO_AUTHENTICATION = 1;
const POINTER_EVENT = 5;
const PIXEL_FORMAT_BYTES = 16;

/**
 * Moves the pointer of a screen by the width of one point and back, as a client of the VNC protocol (RFC 6143) that shares
 * the screen with those who look at it already. Ends the connection.
 */
export async function moveCursor(screen: Socket): Promise<void> {
  screen.setTimeout(LIMIT_MS, () => screen.destroy(new Error(`the screen gave no answer within ${LIMIT_MS} ms`)));
  try {
    const server = new ByteReader(screen);
    const version = await server.take(12);
    screen.write(version.toString("latin1").startsWith("RFB 003.008") ? version : "RFB 003.008\n");
    const [count = 0] = await server.take(1);
    const offered = await server.take(count);
    if (!offered.includes(NO_AUTHENTICATION)) throw new Error("the screen wants a password");
    screen.write(Uint8Array.of(NO_AUTHENTICATION));
    if ((await server.take(4)).readUInt32BE(0) !== 0) throw new Error("the screen lets nobody in");
    screen.write(Uint8Array.of(1));
    const size = await server.take(4 + PIXEL_FORMAT_BYTES);
    const x = Math.max(0, Math.min(1, size.readUInt16BE(0) - 1));
    screen.write(pointerAt(x, 0));
    screen.end(pointerAt(0, 0));
    // Whatever the screen still has to say is not wanted; that it hangs up shows that it has heard us.
    await server.untilEnd();
  } finally {
    screen.destroy();
  }
}

function pointerAt(x: number, y: number): Buffer {
  const message = Buffer.alloc(6);
  message.writeUInt8(POINTER_EVENT, 0);
  message.writeUInt16BE(x, 2);
  message.writeUInt16BE(y, 4);
  return message;
}

/** Takes bytes off a stream, as many as are asked for. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #waiting: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    // A socket without an encoding gives buffers.
    this.#chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async take(length: number): Promise<Buffer> {
    while (this.#waiting.length < length) {
      const chunk = await this.#chunks.next();
      if (chunk.done === true) throw new Error("the screen hung up");
      this.#waiting = Buffer.concat([this.#waiting, chunk.value]);
    }
    const taken = this.#waiting.subarray(0, length);
    this.#waiting = this.#waiting.subarray(length);
    return taken;
  }

  async untilEnd(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }
}
