import type { Duplex } from "node:stream";
import { parseSize } from "./channel-protocol.ts";
import { pauseAboveBytes, type RemoteStreams } from "./remote-streams.ts";
import { SpdyConnection, type SpdyStream } from "./spdy/spdy-connection.ts";

/** What older clients speak: one SPDY stream each for input, output, errors, resizing and the result. */
export const spdyStreamProtocol = "v4.channel.k8s.io";

/** What came over a stream before somebody listened. */
interface Opened {
  readonly stream: SpdyStream;
  readonly early: Buffer[];
  ended: boolean;
}

const openMs = 30_000;

/** Waits until the client has opened the streams of the given types; undefined when it goes away or takes too long. */
export async function acceptSpdyStreams(socket: Duplex, types: readonly string[]): Promise<RemoteStreams | undefined> {
  const opened = new Map<string, Opened>();
  const complete = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), openMs);
    const settle = (whole: boolean): void => {
      clearTimeout(timer);
      resolve(whole);
    };
    socket.once("close", () => settle(false));
    const connection = new SpdyConnection(socket, (stream) => {
      const entry: Opened = { stream, early: [], ended: false };
      stream.onData((data) => entry.early.push(data));
      stream.onEnd(() => (entry.ended = true));
      opened.set((stream.headers.get("streamtype") ?? "").toLowerCase(), entry);
      if (types.every((type) => opened.has(type))) settle(true);
    });
    connection.start();
  });
  if (await complete) return streamsOf(socket, opened);
  socket.destroy();
  return undefined;
}

function streamsOf(socket: Duplex, opened: ReadonlyMap<string, Opened>): RemoteStreams {
  const listen = (type: string, listener: (data: Buffer) => void): void => {
    const entry = opened.get(type);
    for (const data of entry?.early.splice(0) ?? []) listener(data);
    entry?.stream.onData(listener);
  };
  return {
    send(type, data) {
      opened.get(type)?.stream.write(data);
      if (socket.writableLength < pauseAboveBytes || socket.destroyed) return undefined;
      return new Promise((resolve) => {
        socket.once("drain", resolve);
        socket.once("close", resolve);
      });
    },
    onInput: (listener) => listen("stdin", listener),
    onInputEnd(listener) {
      const entry = opened.get("stdin");
      if (entry?.ended === true) listener();
      else entry?.stream.onEnd(listener);
    },
    onResize(listener) {
      listen("resize", (data) => {
        const size = parseSize(data);
        if (size !== undefined) listener(size);
      });
    },
    onClose: (listener) => void socket.once("close", listener),
    finish(status) {
      opened.get("error")?.stream.write(Buffer.from(JSON.stringify(status)));
      for (const { stream } of opened.values()) stream.end();
      // The client closes when it has read the result; one that does not is not waited for.
      setTimeout(() => socket.end(), 1000).unref();
    },
  };
}
