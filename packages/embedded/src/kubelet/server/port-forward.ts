import type { IncomingMessage } from "node:http";
import * as net from "node:net";
import { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { socketInNetwork } from "@polyvirt/host";
import { SpdyConnection, type SpdyStream } from "./spdy/spdy-connection.ts";

/** Where a pod's programs listen. */
interface PodPlace {
  readonly ip: string;
  /** Missing when the pod shares the machine's network. */
  readonly networkNamespace?: string;
}

interface PortForwardRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly pod: PodPlace;
  readonly query: URLSearchParams;
}

const spdyProtocol = "portforward.k8s.io";
/** SPDY frames inside of WebSocket messages, which kubectl prefers since 1.31. */
const tunnelProtocol = `SPDY/3.1+${spdyProtocol}`;
/** Plain WebSocket channels, two for each port: data and error. */
const channelProtocol = "v4.channel.k8s.io";

const webSockets = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  handleProtocols: (offered) => [tunnelProtocol, channelProtocol].find((name) => offered.has(name)) ?? false,
});

/** Connects ports of a pod with the client's streams, in the three ways that clients ask for it. */
export function servePortForward(forward: PortForwardRequest): void {
  const { request, socket, head, pod } = forward;
  const upgrade = (request.headers.upgrade ?? "").toLowerCase();
  if (upgrade === "websocket") {
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (webSocket.protocol === channelProtocol) serveChannels(webSocket, pod, forward.query);
      else serveSpdy(webSocketDuplex(webSocket), pod);
    });
    return;
  }
  if (upgrade !== "spdy/3.1") {
    socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    return;
  }
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: ${spdyProtocol}\r\n\r\n`,
  );
  if (head.length > 0) socket.unshift(head);
  serveSpdy(socket, pod);
}

/** Each connection is a pair of streams with the same request id: one for data, one for what went wrong. */
function serveSpdy(socket: Duplex, pod: PodPlace): void {
  const errorsById = new Map<string, SpdyStream>();
  const connection = new SpdyConnection(socket, (stream) => {
    const id = stream.headers.get("requestid") ?? "";
    if (stream.headers.get("streamtype") === "error") {
      errorsById.set(id, stream);
      stream.onEnd((reset) => {
        if (reset) errorsById.delete(id);
      });
      return;
    }
    const port = Number(stream.headers.get("port"));
    const report = (message: string): void => errorsById.get(id)?.write(Buffer.from(message));
    const podSide = connectToPod(pod, port, report, () => stream.reset());
    podSide.on("data", (data) => stream.write(data));
    stream.onData((data) => podSide.write(data));
    stream.onEnd((reset) => (reset ? podSide.destroy() : podSide.end()));
    podSide.once("close", () => {
      stream.end();
      errorsById.get(id)?.end();
      errorsById.delete(id);
    });
  });
  connection.start();
}

/** For each port of the query: channel 2n carries data, 2n + 1 errors; the first message of each names the port. */
function serveChannels(webSocket: WebSocket, pod: PodPlace, query: URLSearchParams): void {
  const connections = query.getAll("port").map((text, index) => {
    const port = Number(text);
    const send = (channel: number, data: Buffer): void => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(Buffer.concat([Buffer.from([channel]), data]));
    };
    const name = Buffer.alloc(2);
    name.writeUInt16LE(port & 0xffff);
    send(index * 2, name);
    send(index * 2 + 1, name);
    const connection = connectToPod(
      pod,
      port,
      (message) => send(index * 2 + 1, Buffer.from(message)),
      () => webSocket.close(1000),
    );
    connection.on("data", (data) => send(index * 2, data));
    connection.once("close", () => webSocket.close(1000));
    return connection;
  });
  webSocket.on("message", (data: Buffer) => {
    const channel = data[0] ?? 1;
    if (channel % 2 === 0) connections[channel / 2]?.write(data.subarray(1));
  });
  webSocket.once("close", () => connections.forEach((connection) => connection.destroy()));
}

/**
 * A program may listen on the pod's address, on the pod's loopback, or on both. The loopback of a pod without a network of
 * its own is everybody's, so there the address comes first.
 */
function connectToPod(
  { ip, networkNamespace }: PodPlace,
  port: number,
  report: (message: string) => void,
  refuse: () => void,
): net.Socket {
  const own = networkNamespace !== undefined;
  const socket = own ? socketInNetwork(networkNamespace) : new net.Socket();
  // After the first try the socket is made anew, in the machine's network, from where the pod's address can be reached.
  const hosts = own ? ["127.0.0.1", ip] : [ip, "127.0.0.1"];
  const dial = (): void => {
    const host = hosts.shift();
    if (host !== undefined) socket.connect({ host, port });
  };
  socket.on("error", (error) => {
    const refused = "code" in error && error.code === "ECONNREFUSED";
    if (refused && hosts.length > 0 && socket.bytesRead === 0) return void setImmediate(dial);
    report(`connect to port ${port} of the pod: ${error.message}`);
    refuse();
  });
  dial();
  return socket;
}

function webSocketDuplex(webSocket: WebSocket): Duplex {
  const duplex = new Duplex({
    read() {
      webSocket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      if (webSocket.readyState !== webSocket.OPEN) return done();
      webSocket.send(chunk, (error) => done(error));
    },
    final(done) {
      webSocket.close(1000);
      done();
    },
    destroy(error, done) {
      webSocket.terminate();
      done(error);
    },
  });
  webSocket.on("message", (data: Buffer) => {
    if (!duplex.push(data)) webSocket.pause();
  });
  webSocket.once("close", () => {
    duplex.push(null);
    duplex.destroy();
  });
  webSocket.once("error", (error) => duplex.destroy(error));
  return duplex;
}
