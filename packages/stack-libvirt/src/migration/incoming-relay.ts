import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { errors } from "@polyvirt/stack";
import { lengthBytes } from "../rpc/message.ts";
import { remoteProgram } from "../rpc/remote-program.ts";

export interface IncomingRelay {
  /** Lets nobody in any more. Whoever is in may finish: with post-copy that can take long after the machine runs here. */
  refuse(): void;
  /** Ends everything. */
  close(): void;
}

interface Destinations {
  /** The daemon's socket. */
  readonly daemon: string;
  /** Where QEMU listens for the machine, once the daemon has been told to receive it. */
  readonly machine: string;
}

/** Enough to tell what somebody wants: a message for the daemon begins with its length and the program's number. */
const headBytes = lengthBytes + 4;

/**
 * Lets whoever connects to one socket talk to the daemon, or fill the machine: both reach the target at the place that the
 * two launchers have agreed on, and only until the move is over.
 */
export function openRelay(socketPath: string, destinations: Destinations): Promise<IncomingRelay> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  };
  // An end that has said everything may still have something to hear.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    keep(client);
    client.on("error", () => client.destroy());
    readHead(client, (head) => {
      const isForDaemon = head.readUInt32BE(lengthBytes) === remoteProgram.number;
      const path = isForDaemon ? destinations.daemon : destinations.machine;
      const inner = connect({ path, allowHalfOpen: true });
      keep(inner);
      inner.on("error", () => inner.destroy());
      inner.write(head);
      join(client, inner);
    });
  });
  rmSync(socketPath, { force: true });
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(errors.StackStartFailed(`wait for a machine at ${socketPath}`, { cause })));
    server.listen(socketPath, () =>
      resolve({
        refuse: () => void server.close(),
        close() {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      }),
    );
  });
}

/** The first bytes of a connection, when enough of them are there. Nothing after them is read. */
function readHead(socket: Socket, done: (head: Buffer) => void): void {
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    if (head.length < headBytes) return;
    socket.off("data", onData);
    socket.pause();
    done(head);
  };
  socket.on("data", onData);
  // Whoever leaves without having said anything wants nothing.
  socket.once("end", () => {
    if (head.length < headBytes) socket.destroy();
  });
}

/** Both directions, each until its sender ends it. What was sent before somebody left still arrives. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on("close", () => to.destroySoon());
    from.pipe(to);
  }
}
