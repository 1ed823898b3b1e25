import type { Duplex } from "node:stream";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { errors } from "./errors.ts";
import type { GrpcService } from "./grpc-service.ts";
import { channelOptions } from "./grpc-limits.ts";

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

export function createGrpcServer(services: readonly GrpcService[], options: GrpcServerOptions = {}): GrpcServer {
  const server = new Server(channelOptions(options.maxMessageBytes));
  for (const { definition, handlers } of services) server.addService(definition, handlers);
  const credentials = ServerCredentials.createInsecure();
  const injector = server.createConnectionInjector(credentials);
  return {
    listen: (address) =>
      new Promise((resolve, reject) => {
        server.bindAsync(address, credentials, (error) => {
          if (error === null) resolve();
          else reject(errors.ProtocolListenFailed(`listen on ${address}`, { cause: error }));
        });
      }),
    accept: (connection) => injector.injectConnection(connection),
    async close(limitMs) {
      injector.drain(limitMs);
      injector.destroy();
      const drained = new Promise<void>((resolve) => {
        server.tryShutdown(() => resolve());
      });
      const limit = setTimeout(() => server.forceShutdown(), limitMs);
      await drained;
      clearTimeout(limit);
    },
  };
}
