import { lchownSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { Event } from "@polyvirt/api/k8s";
import { describeError, type Logger } from "@polyvirt/core";
import { peerCredentials, type OpenedPath, type PeerCredentials } from "@polyvirt/host";
import {
  createGrpcServer,
  decodeDomainDocument,
  grpcService,
  notifyInfo,
  notifyV1,
  type DomainDocument,
} from "@polyvirt/protocol";
import { errors } from "../errors.ts";

interface NotifyHandler {
  /** The machine changed; `gone` when the launcher has forgotten it after this last state. */
  onDomain(domain: DomainDocument, gone: boolean): void;
  onEvent(event: Pick<Event, "type" | "reason" | "message">): void;
}

export interface NotifyServerOptions {
  /** The pod's `public` folder; closed by the server. */
  readonly directory: OpenedPath;
  /** Who the launcher is: only this user may connect. */
  readonly launcher: PeerCredentials;
  /** The VMI that the pod belongs to: events about any other are refused. */
  readonly vmi: { readonly uid: string; readonly name: string; readonly namespace: string };
  readonly handler: NotifyHandler;
  readonly logger: Logger;
}

export interface NotifyServer {
  close(): Promise<void>;
}

const SOCKET_NAME = "domain-notify-pipe.sock";
const MAX_EVENT_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 8;
const CLOSE_LIMIT_MS = 1_000;

/** Listens inside one launcher pod for what its machine does. */
export async function startNotifyServer(options: NotifyServerOptions): Promise<NotifyServer> {
  const { directory, launcher, logger } = options;
  const grpc = createGrpcServer([
    grpcService(notifyV1.Notify, implementation(options)),
    grpcService(notifyInfo.NotifyInfo, { info: () => Promise.resolve({ supportedNotifyVersions: [1] }) }),
  ]);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (isLauncher(socket, options)) grpc.accept(socket);
    else socket.destroy();
  });
  server.maxConnections = MAX_CONNECTIONS;
  const path = directory.child(SOCKET_NAME);
  try {
    removeStale(path);
    await listen(server, path);
    // SAFETY: the name lies in a folder that the pod can write to; lchown never follows what it may have put there.
    if (launcher.uid !== 0) lchownSync(path, launcher.uid, launcher.gid);
  } catch (cause) {
    server.close();
    directory.close();
    throw errors.HandlerListenFailed(`listen for events of ${options.vmi.namespace}/${options.vmi.name}`, { cause });
  }
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await grpc.close(CLOSE_LIMIT_MS);
      await closed;
      directory.close();
      logger.debug("stopped listening for a launcher's events", { vmi: options.vmi.name });
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ path }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** An earlier virt-handler's socket: nobody listens on it any more. */
function removeStale(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}

function isLauncher(socket: Socket, { launcher, vmi, logger }: NotifyServerOptions): boolean {
  try {
    const peer = peerCredentials(socket);
    if (peer.uid === launcher.uid) return true;
    logger.warn("refused a connection to a launcher's event socket", { vmi: vmi.name, pid: peer.pid, uid: peer.uid });
  } catch (error) {
    logger.warn("refused a connection without credentials", { vmi: vmi.name, error: describeError(error) });
  }
  return false;
}

function implementation({ vmi, handler, logger }: NotifyServerOptions) {
  const refuse = (why: string): Error => {
    logger.warn("refused an event of a launcher", { vmi: vmi.name, why });
    return errors.HandlerEventRefused(`take an event of ${vmi.namespace}/${vmi.name}: ${why}`);
  };
  return {
    handleDomainEvent(request: { domainJSON: Uint8Array; eventType: string }) {
      const domain = decodeDomainDocument(request.domainJSON);
      if (domain.ObjectMeta.uid !== "" && domain.ObjectMeta.uid !== vmi.uid) {
        throw refuse(`it is about the machine with UID ${domain.ObjectMeta.uid}`);
      }
      if (domain.ObjectMeta.name !== vmi.name || domain.ObjectMeta.namespace !== vmi.namespace) {
        throw refuse(`it is about ${domain.ObjectMeta.namespace}/${domain.ObjectMeta.name}`);
      }
      handler.onDomain(domain, request.eventType === "DELETED");
      return Promise.resolve({ success: true });
    },
    handleK8sEvent(request: { eventJSON: Uint8Array }) {
      if (request.eventJSON.length > MAX_EVENT_BYTES) throw refuse(`it has ${request.eventJSON.length} bytes`);
      const event = parseEvent(request.eventJSON);
      if (event === undefined) throw refuse("it is not an event");
      if (event.involvedObject?.uid !== vmi.uid) throw refuse("it is about another object");
      handler.onEvent({
        type: event.type === "Warning" ? "Warning" : "Normal",
        reason: text(event.reason, 128) ?? "Unknown",
        message: text(event.message, 1024) ?? "",
      });
      return Promise.resolve({ success: true });
    },
  };
}

function parseEvent(json: Uint8Array): Partial<Event> | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(json).toString("utf8"));
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function text(value: unknown, limit: number): string | undefined {
  return typeof value === "string" ? value.slice(0, limit) : undefined;
}
