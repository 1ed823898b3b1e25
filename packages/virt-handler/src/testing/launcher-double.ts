/** A launcher for this package's tests: the Cmd API on a real socket in a pod's folder, with a machine that is a variable. */
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import {
  cmdInfo,
  cmdV1,
  createGrpcClient,
  createGrpcServer,
  encodeDomainDocument,
  grpcService,
  notifyV1,
  type DomainDocument,
} from "@polyvirt/protocol";
import { domainWith, POD_UID } from "./objects.ts";

export interface LauncherDouble {
  /** Commands in the order in which they came. */
  readonly calls: string[];
  domain: DomainDocument | undefined;
  /** JSON of the guest's agent; none when empty. */
  guestInfo: string;
  /** What the next sync answers; undefined starts the machine. */
  syncError: Error | undefined;
  /** Tells virt-handler, as a launcher would. */
  notify(domain: DomainDocument, type?: string): Promise<void>;
  notifyEvent(event: object): Promise<void>;
  /** Ends as kill -9 would: the socket's file stays. */
  kill(): Promise<void>;
}

export function podVolume(pods: string, volume: string, podUid = POD_UID): string {
  const path = join(pods, podUid, "volumes", "kubernetes.io~empty-dir", volume);
  mkdirSync(path, { recursive: true });
  return path;
}

export async function startLauncherDouble(pods: string, podUid = POD_UID): Promise<LauncherDouble> {
  const calls: string[] = [];
  const sockets = new Set<Socket>();
  const socketPath = join(podVolume(pods, "sockets", podUid), "launcher-sock");
  const notifyPath = join(podVolume(pods, "public", podUid), "domain-notify-pipe.sock");
  const success = { success: true };
  const record =
    (name: string, then: () => void = () => {}) =>
    () => {
      calls.push(name);
      then();
      return Promise.resolve(success);
    };
  const grpc = createGrpcServer([
    grpcService(cmdInfo.CmdInfo, { info: () => Promise.resolve({ supportedCmdVersions: [1] }) }),
    grpcService(cmdV1.Cmd, {
      ping: () => Promise.resolve(success),
      getDomain: () =>
        Promise.resolve({
          response: success,
          domain: double.domain === undefined ? "" : Buffer.from(encodeDomainDocument(double.domain)).toString(),
        }),
      getGuestInfo: () =>
        Promise.resolve({
          response: success,
          guestInfoResponse: double.guestInfo,
          guestAgentCondition: { connected: double.guestInfo !== "", supported: true },
        }),
      getQemuVersion: () => Promise.resolve({ response: success, version: "7.2.0" }),
      syncVirtualMachine() {
        calls.push("sync");
        if (double.syncError !== undefined) return Promise.reject(double.syncError);
        double.domain ??= domainWith("Running");
        return Promise.resolve(success);
      },
      shutdownVirtualMachine: record("shutdown"),
      killVirtualMachine: record("kill", () => (double.domain = domainWith("Shutoff", "Destroyed"))),
      deleteVirtualMachine: record("delete", () => (double.domain = undefined)),
      pauseVirtualMachine: record("pause"),
    }),
  ]);
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    grpc.accept(socket);
  });
  rmSync(socketPath, { force: true });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const notify = createGrpcClient(notifyV1.Notify, `unix:${notifyPath}`);

  const double: LauncherDouble = {
    calls,
    domain: undefined,
    guestInfo: "",
    syncError: undefined,
    async notify(domain, eventType = "MODIFIED") {
      double.domain = domain;
      await notify.handleDomainEvent({ domainJSON: encodeDomainDocument(domain), eventType });
    },
    async notifyEvent(event) {
      await notify.handleK8sEvent({ eventJSON: Buffer.from(JSON.stringify(event)) });
    },
    async kill() {
      notify.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return double;
}
