import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { failureOf, type GrpcFailure } from "./grpc-status.ts";

/** What a server knows about the call that it answers. */
export interface CallContext {
  /** Aborted when the caller gives up or its deadline passes. */
  readonly signal: AbortSignal;
  /** Full name, as in `/kubevirt.cmd.v1.Cmd/Ping`. */
  readonly path: string;
}

type Unary<Method> =
  Method extends DescMethodUnary<infer Input, infer Output>
    ? { readonly input: Input; readonly output: Output }
    : never;

/**
 * One function for each method: of a unary one it returns a promise, of one that streams its answer the messages one by
 * one. A method that is left out answers UNIMPLEMENTED.
 */
export type ServiceImplementation<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]?: MethodImplementation<Service["method"][Name]>;
};

type MethodImplementation<Method> =
  Method extends DescMethodServerStreaming<infer Input, infer Output>
    ? (request: MessageShape<Input>, context: CallContext) => AsyncIterable<MessageInitShape<Output>>
    : (
        request: MessageShape<Unary<Method>["input"]>,
        context: CallContext,
      ) => Promise<MessageInitShape<Unary<Method>["output"]>>;

type UnaryNames<Service extends DescService> = {
  [Name in keyof Service["method"]]: Service["method"][Name] extends DescMethodUnary ? Name : never;
}[keyof Service["method"]];

export interface CallOptions {
  /** Time limit of this call; the client's default otherwise. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One function for each unary method, with the same names as in the generated code. */
export type ServiceMethods<Service extends DescService> = {
  readonly [Name in UnaryNames<Service>]: (
    request: MessageInitShape<Unary<Service["method"][Name]>["input"]>,
    options?: CallOptions,
  ) => Promise<MessageShape<Unary<Service["method"][Name]>["output"]>>;
};

/** A service for `createGrpcServer`: what to do with the bytes of each call, by path. */
export interface GrpcService {
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  readonly streams: ReadonlyMap<string, GrpcStream>;
}

/** Answers with any number of messages; a failure ends them. */
export type GrpcStream = (message: Uint8Array, signal: AbortSignal) => AsyncIterable<GrpcAnswer>;

export type GrpcMethod = (message: Uint8Array, signal: AbortSignal) => Promise<GrpcAnswer>;

export type GrpcAnswer = { readonly message: Uint8Array } | { readonly failure: GrpcFailure };

interface GrpcServiceOptions {
  /** What a method that is left out answers; by default the method's name and that it is not implemented. */
  readonly unimplementedMessage?: (method: string) => string;
  /** Hears of every error that a handler throws, before it is sent to the caller. */
  readonly onError?: (path: string, error: unknown) => void;
}

type Handler = (request: unknown, context: CallContext) => Promise<Record<string, unknown>>;
type StreamHandler = (request: unknown, context: CallContext) => AsyncIterable<Record<string, unknown>>;

/** Joins a generated service descriptor with its implementation, for `createGrpcServer`. Callers cannot stream. */
export function grpcService<Service extends DescService>(
  service: Service,
  implementation: ServiceImplementation<Service>,
  options: GrpcServiceOptions = {},
): GrpcService {
  // The mapped type gives each method its own message types; here, where all are alike, they are erased.
  const handlers = implementation as Readonly<Record<string, unknown>>;
  const methods = new Map<string, GrpcMethod>();
  const streams = new Map<string, GrpcStream>();
  for (const method of service.methods) {
    const handler = handlers[method.localName];
    if (method.methodKind === "server_streaming" && handler !== undefined) {
      streams.set(methodPath(method), streamMethod(method, handler as StreamHandler, options));
    } else {
      methods.set(methodPath(method), unaryMethod(method, handler as Handler | undefined, options));
    }
  }
  return { methods, streams };
}

function streamMethod(method: DescMethod, handler: StreamHandler, options: GrpcServiceOptions): GrpcStream {
  const path = methodPath(method);
  return async function* answer(bytes, signal) {
    try {
      for await (const message of handler(decodeMessage(method.input, bytes), { signal, path })) {
        yield { message: encodeMessage(method.output, message) };
      }
    } catch (error) {
      options.onError?.(path, error);
      yield { failure: failureOf(error) };
    }
  };
}

function unaryMethod(method: DescMethod, handler: Handler | undefined, options: GrpcServiceOptions): GrpcMethod {
  const path = methodPath(method);
  if (handler === undefined) {
    const message = options.unimplementedMessage?.(method.name) ?? `${path} is not implemented`;
    return async () => ({ failure: { status: "UNIMPLEMENTED", message } });
  }
  return async (bytes, signal) => {
    try {
      return {
        message: encodeMessage(method.output, await handler(decodeMessage(method.input, bytes), { signal, path })),
      };
    } catch (error) {
      options.onError?.(path, error);
      return { failure: failureOf(error) };
    }
  };
}

export function methodPath(method: DescMethod): string {
  if (method.methodKind !== "unary" && method.methodKind !== "server_streaming") {
    throw new TypeError(`${method.name} streams its request, which is not supported`);
  }
  return `/${method.parent.typeName}/${method.name}`;
}

export function encodeMessage(schema: DescMessage, message: unknown): Uint8Array {
  // Callers go through the typed maps above, so the value has the schema's init shape.
  return toBinary(schema, create(schema, message as MessageInitShape<DescMessage>));
}

export function decodeMessage(schema: DescMessage, bytes: Uint8Array): MessageShape<DescMessage> {
  return fromBinary(schema, bytes);
}
