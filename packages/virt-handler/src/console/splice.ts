import type { Socket } from "node:net";
import type { Logger } from "@polyvirt/core";
import type { RawData, WebSocket } from "ws";

/**
 * A serial port that nobody reads stops its guest. What a slow client has not taken is therefore dropped beyond this
 * much, and reading goes on.
 */
const MAX_WAITING_BYTES = 1024 * 1024;
const NORMAL_CLOSURE = 1000;
const GOING_AWAY = 1001;

/** How much a stream tolerates that bytes are left out. */
type Overflow = "drop" | "pause";

export interface SpliceOptions {
  readonly client: WebSocket;
  readonly guest: Socket;
  /** A terminal can miss bytes; a protocol such as VNC cannot, and waits instead. */
  readonly overflow: Overflow;
  readonly logger: Logger;
}

export interface Splice {
  /** Ends both sides, telling the client why. */
  end(reason: string): void;
  readonly closed: Promise<void>;
}

/** Joins a client's WebSocket and a guest's stream until one of them ends. */
export function splice({ client, guest, overflow, logger }: SpliceOptions): Splice {
  let dropped = 0;
  guest.on("data", (data: Buffer) => {
    if (client.readyState !== client.OPEN) return;
    if (client.bufferedAmount > MAX_WAITING_BYTES && overflow === "drop") {
      dropped += data.length;
      return;
    }
    if (client.bufferedAmount > MAX_WAITING_BYTES) guest.pause();
    client.send(data, { binary: true }, () => guest.resume());
  });
  client.on("message", (data: RawData) => {
    // The guest's side takes as much as it can; the client waits for the rest.
    if (guest.write(asBuffer(data))) return;
    client.pause();
    guest.once("drain", () => client.resume());
  });
  const closed = new Promise<void>((resolve) => {
    guest.once("close", () => {
      client.close(NORMAL_CLOSURE, "the guest's stream has ended");
      if (dropped > 0) logger.info("a slow console client missed output", { bytes: dropped });
      resolve();
    });
  });
  guest.on("error", () => guest.destroy());
  client.on("error", () => client.terminate());
  client.once("close", () => guest.destroy());
  return {
    closed,
    end(reason) {
      client.close(GOING_AWAY, reason);
      guest.destroy();
    },
  };
}

function asBuffer(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
