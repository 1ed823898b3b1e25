import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { errors } from "@polyvirt/stack";

export interface DaemonRelay {
  close(): void;
}

/**
 * Lets whoever connects to one socket talk to the daemon at another: a migration reaches the daemon at the place that the
 * two launchers have agreed on, and only until it is over.
 */
export function openRelay(socketPath: string, daemonSocket: string): Promise<DaemonRelay> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const daemon = connect(daemonSocket);
    for (const [from, to] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  rmSync(socketPath, { force: true });
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(errors.StackStartFailed(`wait for a machine at ${socketPath}`, { cause })));
    server.listen(socketPath, () =>
      resolve({
        close() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      }),
    );
  });
}
