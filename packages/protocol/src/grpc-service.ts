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
import type { handleUnaryCall, MethodDefinition, ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import { toServiceError } from "./grpc-status.ts";

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

/** A service as @grpc/grpc-js wants it: definition and handlers. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly handlers: UntypedServiceImplementation;
}

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
  const definition: Record<string, MethodDefinition<unknown, unknown>> = {};
  const handlers: Record<string, handleUnaryCall<unknown, unknown>> = {};
  for (const method of service.methods) {
    definition[method.name] = methodDefinition(method);
    // The mapped type gives each method its own message types; here, where all are alike, they are erased.
    const handler = implementation[method.localName as keyof typeof implementation] as Handler | undefined;
    handlers[method.name] = unaryHandler(method, handler, options);
  }
  return { definition, handlers };
}

/** Path and codecs of one unary method. */
export function methodDefinition(method: DescMethod): MethodDefinition<unknown, unknown> {
  if (method.methodKind !== "unary") throw new TypeError(`${method.name} streams; only unary methods are supported`);
  const serialize = (schema: DescMessage) => (message: unknown) =>
    // Callers go through the typed maps above, so the value has the schema's init shape.
    Buffer.from(toBinary(schema, create(schema, message as MessageInitShape<DescMessage>)));
  const deserialize = (schema: DescMessage) => (bytes: Buffer) => fromBinary(schema, bytes);
  return {
    path: methodPath(method),
    requestStream: false,
    responseStream: false,
    requestSerialize: serialize(method.input),
    requestDeserialize: deserialize(method.input),
    responseSerialize: serialize(method.output),
    responseDeserialize: deserialize(method.output),
  };
}

function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function unaryHandler(
  method: DescMethod,
  handler: Handler | undefined,
  options: GrpcServiceOptions,
): handleUnaryCall<unknown, unknown> {
  const path = methodPath(method);
  return (call, callback) => {
    if (handler === undefined) {
      const message = options.unimplementedMessage?.(method.name) ?? `${path} is not implemented`;
      callback(toServiceError({ message, unimplemented: true }));
      return;
    }
    const abort = new AbortController();
    call.on("cancelled", () => abort.abort(new Error(`${path}: the caller gave up`)));
    void (async () => {
      try {
        callback(null, await handler(call.request, { signal: abort.signal, path }));
      } catch (error) {
        options.onError?.(path, error);
        callback(toServiceError(error));
      }
    })();
  };
}
