import type { DescService } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { fromServiceError } from "./grpc-status.ts";
import { methodDefinition, type CallOptions, type ServiceMethods } from "./grpc-service.ts";
import { channelOptions } from "./grpc-limits.ts";

interface GrpcClientOptions {
  /** Time limit of a call that names none: nothing waits without a limit. */
  readonly timeoutMs?: number;
  /** Largest message in either direction. */
  readonly maxMessageBytes?: number;
  /** For addresses that may mean another peer later (`/proc/self/fd/7`): never share a connection with other clients. */
  readonly ownConnection?: boolean;
}

export type GrpcClient<Service extends DescService> = ServiceMethods<Service> & {
  /** Ends the connection; calls under way fail. */
  close(): void;
};

/**
 * A client for one service, e.g. `createGrpcClient(Cmd, "unix:/run/launcher-sock")`. It connects on the first call and
 * again after a failure; clients of the same address share a connection unless told otherwise. Failures are PolyvirtErrors (see errors.ts).
 * The peer is local and found by its socket path, which the caller must have checked; there is no TLS.
 */
export function createGrpcClient<Service extends DescService>(
  service: Service,
  address: string,
  options: GrpcClientOptions = {},
): GrpcClient<Service> {
  const client = new Client(address, credentials.createInsecure(), {
    ...channelOptions(options.maxMessageBytes),
    ...(options.ownConnection === true ? { "grpc.use_local_subchannel_pool": 1 } : {}),
  });
  const defaultTimeoutMs = options.timeoutMs ?? 5_000;
  const methods: Record<string, unknown> = { close: () => client.close() };
  for (const method of service.methods) {
    const definition = methodDefinition(method);
    const operation = `call ${method.parent.typeName}/${method.name} at ${address}`;
    methods[method.localName] = (request: unknown, call: CallOptions = {}) =>
      new Promise((resolve, reject) => {
        call.signal?.throwIfAborted();
        const deadline = new Date(Date.now() + (call.timeoutMs ?? defaultTimeoutMs));
        const onAbort = () => pending.cancel();
        const onAnswer = (error: ServiceError | null, response?: unknown) => {
          call.signal?.removeEventListener("abort", onAbort);
          if (error === null) resolve(response);
          else reject(call.signal?.aborted ? call.signal.reason : fromServiceError(operation, error));
        };
        const pending = client.makeUnaryRequest(
          definition.path,
          definition.requestSerialize,
          definition.responseDeserialize,
          request,
          new Metadata(),
          { deadline },
          onAnswer,
        );
        call.signal?.addEventListener("abort", onAbort, { once: true });
      });
  }
  // Every unary method of the descriptor has just been given its function.
  return methods as GrpcClient<Service>;
}
