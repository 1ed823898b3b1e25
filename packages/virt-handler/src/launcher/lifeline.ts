import { createConnection, type Socket } from "node:net";
import { peerCredentials, type PeerCredentials } from "@polyvirt/host";

export interface Lifeline {
  readonly peer: PeerCredentials;
  close(): void;
}

/**
 * A connection to the launcher that is held open and never used: the kernel closes it in the moment in which the
 * launcher's process ends, however it ends. `onEnd` is called then, once.
 */
export function openLifeline(path: string, onEnd: () => void): Promise<Lifeline> {
  return new Promise((resolve, reject) => {
    const socket: Socket = createConnection({ path });
    let closing = false;
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      let peer: PeerCredentials;
      try {
        peer = peerCredentials(socket);
      } catch (error) {
        socket.destroy();
        reject(error);
        return;
      }
      // The server speaks first in HTTP/2; what it says is of no interest here.
      socket.resume();
      socket.once("close", () => {
        if (!closing) onEnd();
      });
      resolve({
        peer,
        close() {
          closing = true;
          socket.destroy();
        },
      });
    });
  });
}
