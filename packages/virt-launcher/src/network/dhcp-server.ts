import { createSocket, type Socket } from "node:dgram";
import { describeError, type Logger } from "@polyvirt/core";
import { bindToInterface } from "@polyvirt/host";
import { errors } from "../errors.ts";
import { answerDhcp } from "./dhcp-answer.ts";
import type { Lease } from "./lease.ts";

export interface DhcpServer {
  close(): void;
}

const serverPort = 67;
const clientPort = 68;

/** Answers one guest on one interface of the pod until it is closed. */
export async function startDhcpServer(bridge: string, lease: Lease, logger: Logger): Promise<DhcpServer> {
  const socket = createSocket({ type: "udp4" });
  await bind(socket, bridge);
  socket.on("error", (error) => logger.warn("the DHCP server has a problem", { error: describeError(error) }));
  socket.on("message", (packet) => {
    const answer = answerDhcp(packet, lease);
    if (answer === undefined) return;
    socket.send(answer.data, clientPort, answer.to, (error) => {
      if (error) logger.warn("a DHCP answer was not sent", { error: describeError(error) });
    });
  });
  logger.info("answering DHCP", { bridge, address: lease.address });
  return { close: () => socket.close() };
}

function bind(socket: Socket, bridge: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      socket.close();
      reject(errors.LauncherNetworkFailed(`answer DHCP on ${bridge}`, { cause }));
    };
    socket.once("error", fail);
    socket.bind({ port: serverPort, exclusive: true }, () => {
      socket.off("error", fail);
      try {
        bindToInterface(socket, bridge);
        socket.setBroadcast(true);
        resolve();
      } catch (error) {
        fail(error);
      }
    });
  });
}
