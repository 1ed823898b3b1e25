import type { Event } from "@polyvirt/api/k8s";
import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import { identifyProcess, type OpenedPath, type PeerCredentials } from "@polyvirt/host";
import type { DomainDocument } from "@polyvirt/protocol";
import { errors } from "../errors.ts";
import type { LauncherProcess } from "../network/guest-network.ts";
import { startNotifyServer, type NotifyServer } from "../notify/notify-server.ts";
import type { GhostRecord } from "./ghost-records.ts";
import { createLauncherCommands, type LauncherCommands } from "./launcher-commands.ts";
import type { LauncherDirectory } from "./launcher-directory.ts";
import { openLifeline, type Lifeline } from "./lifeline.ts";

export interface LauncherConnection {
  readonly commands: LauncherCommands;
  /** Who listens on the launcher's socket; undefined when its process is not visible from here. */
  readonly process: LauncherProcess | undefined;
  close(): Promise<void>;
}

export interface LauncherListener {
  onDomain(domain: DomainDocument, gone: boolean): void;
  onEvent(event: Pick<Event, "type" | "reason" | "message">): void;
  /** The launcher's process has ended, or does not answer any more. */
  onLost(reason: string): void;
}

export interface LauncherConnectionDeps {
  readonly directory: LauncherDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A launcher that answers no ping for this long is given up. */
const SILENCE_LIMIT_MS = 30_000;
const PING_INTERVAL_MS = 10_000;

/**
 * Connects to the launcher in the pod: finds its socket safely, looks at who listens there, agrees on a version, and
 * listens for its events. Throws HandlerLauncherAbsent when there is no socket yet, HandlerLauncherGone when nobody
 * listens on it any more.
 */
export async function connectLauncher(
  deps: LauncherConnectionDeps,
  record: GhostRecord,
  listener: LauncherListener,
): Promise<LauncherConnection> {
  const label = `${record.namespace}/${record.name}`;
  const socket = openSocket(deps.directory, record, label);
  const parts: { lifeline?: Lifeline; notify?: NotifyServer } = {};
  const watching = new AbortController();
  const commands = createLauncherCommands(`unix:${socket.path}`, label);
  const close = async (): Promise<void> => {
    watching.abort();
    parts.lifeline?.close();
    commands.close();
    socket.close();
    await parts.notify?.close();
  };
  try {
    const lifeline = await openLifeline(socket.path, () => listener.onLost("the launcher's process has ended"));
    parts.lifeline = lifeline;
    await commands.checkVersion();
    parts.notify = await startNotifyServer({
      directory: deps.directory.open(record.podUid, "public", ".", "directory"),
      launcher: lifeline.peer,
      vmi: record,
      handler: listener,
      logger: deps.logger,
    });
    void watch(deps, commands, (reason) => listener.onLost(reason), watching.signal);
    return { commands, process: launcherProcess(lifeline.peer), close };
  } catch (error) {
    await close();
    throw asConnectError(error, label);
  }
}

/** SAFETY: the id is the kernel's own word on who listens, and the connection to it is still open when it is looked up. */
function launcherProcess({ pid, uid, gid }: PeerCredentials): LauncherProcess | undefined {
  const identity = pid === 0 ? undefined : identifyProcess(pid);
  return identity === undefined ? undefined : { identity, uid, gid };
}

function openSocket(directory: LauncherDirectory, record: GhostRecord, label: string): OpenedPath {
  try {
    return directory.open(record.podUid, "sockets", "launcher-sock", "socket");
  } catch (error) {
    if (!hasCode(error, "HostPathMissing")) throw error;
    throw errors.HandlerLauncherAbsent(`find the launcher of ${label}: its socket is not there`, { cause: error });
  }
}

/** Nobody listens on a socket that exists: its process has ended. */
function asConnectError(error: unknown, label: string): unknown {
  if (error instanceof Error && "code" in error && error.code === "ECONNREFUSED") {
    return errors.HandlerLauncherGone(`connect to the launcher of ${label}: nobody listens on its socket`);
  }
  return error;
}

/** Pings now and then until the signal is aborted; a launcher that hangs is as lost as one that has ended. */
async function watch(
  { clock, logger }: LauncherConnectionDeps,
  commands: LauncherCommands,
  onLost: (reason: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let answeredAt = clock.monotonic();
  while (!signal.aborted) {
    try {
      await clock.sleep(PING_INTERVAL_MS, signal);
      await commands.ping();
      answeredAt = clock.monotonic();
    } catch (error) {
      if (signal.aborted) return;
      logger.warn("a launcher does not answer", { error: describeError(error) });
      const silentMs = clock.monotonic() - answeredAt;
      if (silentMs >= SILENCE_LIMIT_MS) {
        return onLost(`the launcher has not answered for ${Math.round(silentMs / 1000)} s`);
      }
    }
  }
}
