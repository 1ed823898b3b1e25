import * as fs from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { describeError, type Logger } from "@polyvirt/core";
import { peerCredentials } from "@polyvirt/host";
import { cmdV1, createGrpcClient, createGrpcServer, type GrpcService } from "@polyvirt/protocol";
import { errors } from "../errors.ts";

interface CommandSocketDependencies {
  readonly directory: string;
  readonly services: readonly GrpcService[];
  readonly logger: Logger;
}

export interface CommandSocket {
  close(): Promise<void>;
}

const initName = "launcher-init-sock";
const readyName = "launcher-sock";
const selfPingTimeoutMs = 15_000;
const closeLimitMs = 1_000;

/**
 * Serves the Cmd API. The socket gets its final name only when the launcher has had an answer from itself through it, so
 * whoever finds the name finds a launcher that works.
 */
export async function openCommandSocket(dependencies: CommandSocketDependencies): Promise<CommandSocket> {
  const { directory, services, logger } = dependencies;
  const grpc = createGrpcServer(services);
  const initPath = `${directory}/${initName}`;
  const readyPath = `${directory}/${readyName}`;
  fs.mkdirSync(directory, { recursive: true });
  for (const stale of [initPath, readyPath]) fs.rmSync(stale, { force: true });
  const connections = new Set<Socket>();
  const listener = createServer((socket) => {
    if (!isTrusted(socket, logger)) return socket.destroy();
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
    grpc.accept(socket);
  });
  await listen(listener, initPath);
  await pingSelf(`unix:${initPath}`);
  fs.renameSync(initPath, readyPath);
  return {
    async close() {
      fs.rmSync(readyPath, { force: true });
      listener.close();
      await grpc.close(closeLimitMs);
      for (const connection of connections) connection.destroy();
    },
  };
}

/** SAFETY: only root (the node agent) and the launcher's own user may drive the machine. */
function isTrusted(socket: Socket, logger: Logger): boolean {
  try {
    const { uid, pid } = peerCredentials(socket);
    if (uid === 0 || uid === process.getuid?.()) return true;
    logger.warn("refused a connection to the command socket", { uid, pid });
  } catch (error) {
    logger.warn("refused a connection to the command socket", { error: describeError(error) });
  }
  return false;
}

function listen(listener: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once("error", (cause) => reject(errors.LauncherNotReady(`listen on ${path}`, { cause })));
    listener.listen(path, () => {
      // The node agent may run as another user than the launcher; the check above decides who may talk.
      fs.chmodSync(path, 0o666);
      resolve();
    });
  });
}

async function pingSelf(address: string): Promise<void> {
  const client = createGrpcClient(cmdV1.Cmd, address, { timeoutMs: selfPingTimeoutMs });
  try {
    await client.ping({});
  } catch (cause) {
    throw errors.LauncherNotReady(`ping the launcher's own command server at ${address}`, { cause });
  } finally {
    client.close();
  }
}
