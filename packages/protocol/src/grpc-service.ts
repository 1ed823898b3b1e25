import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
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

/** One function for each unary method. A method that is left out answers UNIMPLEMENTED. */
export type ServiceImplementation<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]?: (
    request: MessageShape<Unary<Service["method"][Name]>["input"]>,
    context: CallContext,
  ) => Promise<MessageInitShape<Unary<Service["method"][Name]>["output"]>>;
};

export interface CallOptions {
  /** Time limit of this call; the client's default otherwise. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One function for each unary method, with the same names as in the generated code. */
export type ServiceMethods<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: (
    request: MessageInitShape<Unary<Service["method"][Name]>["input"]>,
    options?: CallOptions,
  ) => Promise<MessageShape<Unary<Service["method"][Name]>["output"]>>;
};

/** A service for `createGrpcServer`: what to do with the bytes of each call, by path. */
export interface GrpcService {
  readonly methods: ReadonlyMap<string, GrpcMethod>;
}

export type GrpcMethod = (message: Uint8Array, signal: AbortSignal) => Promise<GrpcAnswer>;

export type GrpcAnswer = { readonly message: Uint8Array } | { readonly failure: GrpcFailure };

interface GrpcServiceOptions {
  /** What a method that is left out answers; by default the method's name and that it is not implemented. */
  readonly unimplementedMessage?: (method: string) => string;
  /** Hears of every error that a handler throws, before it is sent to the caller. */
  readonly onError?: (path: string, error: unknown) => void;
}

type Handler = (request: unknown, context: CallContext) => Promise<Record<string, unknown>>;

/** Joins a generated service descriptor with its implementation, for `createGrpcServer`. Streaming is not supported. */
export function grpcService<Service extends DescService>(
  service: Service,
  implementation: ServiceImplementation<Service>,
  options: GrpcServiceOptions = {},
): GrpcService {
  const methods = service.methods.map((method): [string, GrpcMethod] => {
    // The mapped type gives each method its own message types; here, where all are alike, they are erased.
    const handler = implementation[method.localName as keyof typeof implementation] as Handler | undefined;
    return [methodPath(method), unaryMethod(method, handler, options)];
  });
  return { methods: new Map(methods) };
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
  if (method.methodKind !== "unary") throw new TypeError(`${method.name} streams; only unary methods are supported`);
  return `/${method.parent.typeName}/${method.name}`;
}

export function encodeMessage(schema: DescMessage, message: unknown): Uint8Array {
  // Callers go through the typed maps above, so the value has the schema's init shape.
  return toBinary(schema, create(schema, message as MessageInitShape<DescMessage>));
}

export function decodeMessage(schema: DescMessage, bytes: Uint8Array): MessageShape<DescMessage> {
  return fromBinary(schema, bytes);
}
