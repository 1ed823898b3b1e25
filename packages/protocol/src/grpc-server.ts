import { once } from "node:events";
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import { socketPathOf, streamSettings } from "./grpc-address.ts";
import { errors } from "./errors.ts";
import { defaultMaxMessageBytes, FrameError, frameMessage, MessageReader } from "./grpc-frame.ts";
import type { GrpcAnswer, GrpcMethod, GrpcService, GrpcStream } from "./grpc-service.ts";
import { writeTrailers, type GrpcFailure } from "./grpc-status.ts";
import { parseTimeout } from "./grpc-timeout.ts";

interface GrpcServerOptions {
  readonly maxMessageBytes?: number;
}

export interface GrpcServer {
  /** Binds an address itself, e.g. `unix:/run/sock`. For a socket whose peers must be checked, use `accept`. */
  listen(address: string): Promise<void>;
  /** Serves a connection that the caller has accepted, and whose peer it has checked. */
  accept(connection: Duplex): void;
  /** Stops taking connections, lets calls finish for as long as the limit says, then ends them. */
  close(limitMs: number): Promise<void>;
}

const contentType = "application/grpc";

/** gRPC with unary calls and streamed answers over HTTP/2 without TLS, for unix sockets. */
export function createGrpcServer(services: readonly GrpcService[], options: GrpcServerOptions = {}): GrpcServer {
  const methods = new Map(services.flatMap((service) => [...service.methods]));
  const streams = new Map(services.flatMap((service) => [...service.streams]));
  const maxBytes = options.maxMessageBytes ?? defaultMaxMessageBytes;
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: streamSettings });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    // A peer that breaks the protocol or goes away ends its own session only.
    session.on("error", () => session.destroy());
  });
  server.on("stream", (stream, headers) => {
    const path = String(headers[":path"]);
    const call = { path, maxBytes, timeout: headers["grpc-timeout"] };
    const streaming = streams.get(path);
    void (streaming === undefined ? serveCall(stream, methods.get(path), call) : serveStream(stream, streaming, call));
  });
  return {
    listen: (address) =>
      new Promise((resolve, reject) => {
        server.once("error", (cause) => reject(errors.ProtocolListenFailed(`listen on ${address}`, { cause })));
        server.listen(socketPathOf(address), resolve);
      }),
    accept: (connection) => void server.emit("connection", connection),
    async close(limitMs) {
      if (server.listening) server.close();
      const ended = [...sessions].map((session) => new Promise<void>((resolve) => session.once("close", resolve)));
      for (const session of sessions) session.close();
      const limit = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, limitMs);
      await Promise.all(ended);
      clearTimeout(limit);
    },
  };
}

interface Call {
  readonly path: string;
  readonly maxBytes: number;
  readonly timeout: unknown;
}

async function serveCall(stream: ServerHttp2Stream, method: GrpcMethod | undefined, call: Call): Promise<void> {
  const abort = new AbortController();
  const timeoutMs = parseTimeout(call.timeout);
  const deadline = timeoutMs === undefined ? undefined : setTimeout(() => giveUp(), timeoutMs);
  const giveUp = (): void => abort.abort(new Error(`${call.path}: the caller gave up`));
  stream.on("close", giveUp);
  stream.on("error", giveUp);
  const answer = await answerCall(stream, method, call, abort.signal);
  clearTimeout(deadline);
  if (stream.destroyed || stream.closed) return;
  if ("failure" in answer) sendFailure(stream, answer.failure);
  else sendMessage(stream, answer.message);
}

async function serveStream(stream: ServerHttp2Stream, method: GrpcStream, call: Call): Promise<void> {
  const abort = new AbortController();
  const giveUp = (): void => abort.abort(new Error(`${call.path}: the caller gave up`));
  stream.on("close", giveUp);
  stream.on("error", giveUp);
  let failure: GrpcFailure | undefined;
  try {
    const request = await readMessage(stream, call.maxBytes);
    stream.respond({ ":status": 200, "content-type": contentType }, { waitForTrailers: true });
    stream.once("wantTrailers", () =>
      stream.sendTrailers(failure === undefined ? { "grpc-status": "0" } : writeTrailers(failure)),
    );
    for await (const answer of method(request, abort.signal)) {
      if (abort.signal.aborted) return;
      if ("failure" in answer) {
        failure = answer.failure;
        break;
      }
      if (!stream.write(frameMessage(answer.message))) await once(stream, "drain", { signal: abort.signal });
    }
    stream.end();
  } catch {
    // The caller went away, or sent something that is no message: it hears nothing more.
    stream.close();
  }
}

async function answerCall(
  stream: ServerHttp2Stream,
  method: GrpcMethod | undefined,
  call: Call,
  signal: AbortSignal,
): Promise<GrpcAnswer> {
  try {
    const message = await readMessage(stream, call.maxBytes);
    if (method === undefined) return { failure: { status: "UNIMPLEMENTED", message: `${call.path} is not known` } };
    return await method(message, signal);
  } catch (error) {
    const status = error instanceof FrameError && error.tooLarge ? "RESOURCE_EXHAUSTED" : "INTERNAL";
    return { failure: { status, message: error instanceof Error ? error.message : "the call cannot be read" } };
  }
}

async function readMessage(stream: ServerHttp2Stream, maxBytes: number): Promise<Buffer> {
  const reader = new MessageReader(maxBytes);
  for await (const chunk of stream) reader.push(chunk as Buffer);
  return reader.finish();
}

function sendMessage(stream: ServerHttp2Stream, message: Uint8Array): void {
  stream.respond({ ":status": 200, "content-type": contentType }, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(frameMessage(message));
}

function sendFailure(stream: ServerHttp2Stream, failure: GrpcFailure): void {
  stream.respond({ ":status": 200, "content-type": contentType, ...writeTrailers(failure) }, { endStream: true });
}
