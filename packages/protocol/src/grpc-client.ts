import type { DescService } from "@bufbuild/protobuf";
import { connect as connectHttp2, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect } from "node:net";
import { describeError } from "@polyvirt/core";
import { socketPathOf, streamSettings } from "./grpc-address.ts";
import { defaultMaxMessageBytes, FrameError, frameMessage, MessageReader } from "./grpc-frame.ts";
import { decodeMessage, encodeMessage, methodPath, type CallOptions, type ServiceMethods } from "./grpc-service.ts";
import { errorOf, readTrailers, type GrpcFailure } from "./grpc-status.ts";
import { formatTimeout } from "./grpc-timeout.ts";

interface GrpcClientOptions {
  /** Time limit of a call that names none: nothing waits without a limit. */
  readonly timeoutMs?: number;
  /** Largest message in either direction. */
  readonly maxMessageBytes?: number;
}

export type GrpcClient<Service extends DescService> = ServiceMethods<Service> & {
  /** Ends the connection; calls under way fail. */
  close(): void;
};

/**
 * A client for one service, e.g. `createGrpcClient(Cmd, "unix:/run/launcher-sock")`, with a connection of its own. It
 * connects on the first call and again when a call finds the connection gone. Failures are PolyvirtErrors (errors.ts).
 * The peer is local and found by its socket path, which the caller must have checked; there is no TLS.
 */
export function createGrpcClient<Service extends DescService>(
  service: Service,
  address: string,
  options: GrpcClientOptions = {},
): GrpcClient<Service> {
  const connection = new Connection(socketPathOf(address), options.maxMessageBytes ?? defaultMaxMessageBytes);
  const defaultTimeoutMs = options.timeoutMs ?? 5_000;
  const methods: Record<string, unknown> = { close: () => connection.close() };
  for (const method of service.methods.filter(({ methodKind }) => methodKind === "unary")) {
    const path = methodPath(method);
    const operation = `call ${path.slice(1)} at ${address}`;
    methods[method.localName] = async (request: unknown, call: CallOptions = {}) => {
      call.signal?.throwIfAborted();
      const timeoutMs = call.timeoutMs ?? defaultTimeoutMs;
      const message = encodeMessage(method.input, request);
      const answer = await connection.call({ operation, path, message, timeoutMs, signal: call.signal });
      return decodeMessage(method.output, answer);
    };
  }
  // Every unary method of the descriptor has just been given its function.
  return methods as GrpcClient<Service>;
}

interface UnaryCall {
  readonly operation: string;
  readonly path: string;
  readonly message: Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** One HTTP/2 connection, made when it is needed. */
class Connection {
  readonly #socketPath: string;
  readonly #maxBytes: number;
  #session: ClientHttp2Session | undefined;

  constructor(socketPath: string, maxBytes: number) {
    this.#socketPath = socketPath;
    this.#maxBytes = maxBytes;
  }

  async call(call: UnaryCall): Promise<Buffer> {
    const stream = this.#open().request({
      ":method": "POST",
      ":path": call.path,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-timeout": formatTimeout(call.timeoutMs),
    });
    return new Promise((resolve, reject) => {
      let failure: GrpcFailure | undefined;
      const stop = (reason: GrpcFailure): void => {
        failure ??= reason;
        stream.close(constants.NGHTTP2_CANCEL);
      };
      const deadline = setTimeout(
        () => stop({ status: "DEADLINE_EXCEEDED", message: `not answered within ${call.timeoutMs} ms` }),
        call.timeoutMs,
      );
      const onAbort = (): void => stop({ status: "CANCELLED", message: "given up" });
      call.signal?.addEventListener("abort", onAbort, { once: true });
      const settle = (answer: Answer): void => {
        clearTimeout(deadline);
        call.signal?.removeEventListener("abort", onAbort);
        if (call.signal?.aborted === true) return reject(call.signal.reason);
        if (failure === undefined && answer.failure === undefined) return resolve(answer.message);
        reject(errorOf(call.operation, failure ?? answer.failure ?? unexplained, answer.cause));
      };
      void receive(stream, this.#maxBytes).then(settle);
      stream.end(frameMessage(call.message));
    });
  }

  close(): void {
    this.#session?.destroy();
    this.#session = undefined;
  }

  #open(): ClientHttp2Session {
    const current = this.#session;
    if (current !== undefined && !current.closed && !current.destroyed) return current;
    const session = connectHttp2("http://localhost", {
      createConnection: () => connect(this.#socketPath),
      settings: streamSettings,
    });
    // Calls under way fail with it and tell; the next one connects anew.
    session.on("error", () => session.destroy());
    this.#session = session;
    return session;
  }
}

const unexplained: GrpcFailure = { status: "UNKNOWN", message: "no reason is known" };

type Answer =
  | { readonly message: Buffer; readonly failure?: undefined; readonly cause?: undefined }
  | { readonly message?: undefined; readonly failure: GrpcFailure; readonly cause?: unknown };

/** Reads a stream to its end: a message and a status, or what went wrong. Never rejects. */
function receive(stream: ClientHttp2Stream, maxBytes: number): Promise<Answer> {
  return new Promise((resolve) => {
    const reader = new MessageReader(maxBytes);
    let trailers: Readonly<Record<string, unknown>> | undefined;
    let cause: unknown;
    stream.on("response", (headers) => {
      // A call that fails at once has its status among the headers.
      if ("grpc-status" in headers) trailers = headers;
    });
    stream.on("trailers", (headers) => (trailers = headers));
    stream.on("data", (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : undefined);
      }
    });
    stream.on("error", (error) => (cause = error));
    stream.on("close", () => resolve(conclude(reader, trailers, cause)));
  });
}

function conclude(
  reader: MessageReader,
  trailers: Readonly<Record<string, unknown>> | undefined,
  cause: unknown,
): Answer {
  if (cause instanceof FrameError) return { failure: { status: "RESOURCE_EXHAUSTED", message: cause.message } };
  if (trailers === undefined) {
    const message = cause === undefined ? "the connection ended before the answer" : describeError(cause);
    return { failure: { status: "UNAVAILABLE", message }, cause };
  }
  const failure = readTrailers(trailers);
  if (failure !== undefined) return { failure };
  try {
    return { message: reader.finish() };
  } catch (error) {
    return { failure: { status: "INTERNAL", message: describeError(error) } };
  }
}
