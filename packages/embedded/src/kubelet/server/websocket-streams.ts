import type { WebSocket } from "ws";
import { channels, frame, parseSize, type ChannelProtocol } from "./channel-protocol.ts";
import { pauseAboveBytes, type RemoteStreams, type WindowSize } from "./remote-streams.ts";

/** Streams as channels of one WebSocket: the first byte of each message says which. */
export function webSocketStreams(socket: WebSocket, protocol: ChannelProtocol): RemoteStreams {
  const inputs: ((data: Buffer) => void)[] = [];
  const inputEnds: (() => void)[] = [];
  const resizes: ((size: WindowSize) => void)[] = [];
  socket.on("message", (data: Buffer) => {
    const channel = data[0];
    const content = data.subarray(1);
    if (channel === channels.stdin) for (const listener of inputs) listener(content);
    const closes = channel === channels.close && protocol === "v5.channel.k8s.io" && content[0] === channels.stdin;
    if (closes) for (const listener of inputEnds) listener();
    const size = channel === channels.resize ? parseSize(content) : undefined;
    if (size !== undefined) for (const listener of resizes) listener(size);
  });
  // Tells the client that the streams are there.
  socket.send(frame(channels.stdout, Buffer.alloc(0)));
  return {
    send(stream, data) {
      if (socket.readyState !== socket.OPEN) return undefined;
      const sent = new Promise<void>((resolve) => {
        socket.send(frame(channels[stream], data), () => resolve());
      });
      return socket.bufferedAmount < pauseAboveBytes ? undefined : sent;
    },
    onInput: (listener) => void inputs.push(listener),
    onInputEnd: (listener) => void inputEnds.push(listener),
    onResize: (listener) => void resizes.push(listener),
    onClose: (listener) => void socket.once("close", listener),
    finish(status) {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(frame(channels.error, Buffer.from(JSON.stringify(status))));
      socket.close(1000);
    },
  };
}
