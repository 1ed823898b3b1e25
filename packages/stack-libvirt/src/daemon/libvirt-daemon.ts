import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import { errors } from "@polyvirt/stack";
import { LibvirtConnection, type LibvirtEvent } from "../rpc/libvirt-connection.ts";
import type { EventName } from "../rpc/remote-program.ts";
import { AdoptedProcesses } from "./adopted-processes.ts";
import { copyCapabilities } from "./capability-cache.ts";
import { daemonLayout, type DaemonLayout } from "./daemon-layout.ts";
import { findDaemon, prepareDaemon } from "./daemon-preparation.ts";
import { spawnDaemon, type DaemonExit, type DaemonProcess } from "./daemon-process.ts";
import { daemonUserCommand } from "./daemon-user.ts";
import { startKeeper, type Keeper } from "./keeper.ts";

export interface DaemonDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the daemon keeps everything; it is made and removed with it. */
  readonly directory: string;
  readonly sharedCache?: SharedCache | undefined;
  /** A host name of the daemon's own; without, it sees the launcher's. */
  readonly hostName?: string | undefined;
  /** A device that the daemon is not to see, as if it were a launcher that was not given it. */
  readonly hiddenDevice?: string;
  /** Programs that the daemon may find by name: emulators about which it is to be asked. */
  readonly programs?: readonly string[];
}

/** What is known about emulators, which libvirt would otherwise have to ask. */
export interface SharedCache {
  readonly directory: string;
  /** Whether to keep there what this daemon finds out. Launchers do not: others would have to trust their guests. */
  readonly writable?: boolean;
}

/** Who hears of what happens on the connection. */
export interface DaemonListener {
  readonly events: readonly Exclude<EventName, "monitor">[];
  readonly monitorEvents: readonly string[];
  onEvent(event: LibvirtEvent): void;
  /** The daemon was gone and is back: what happened in between was not told. */
  onReconnect(connection: LibvirtConnection): Promise<void>;
}

const startLimitMs = 60_000;
const connectRetryMs = 10;
const restartDelayMs = 100;
const maxRestarts = 10;
const stopLimitMs = 3_000;

/**
 * The launcher's own libvirt daemon: started when it is first needed, started again when it dies (machines do not mind),
 * and ended with the launcher.
 */
export class LibvirtDaemon {
  readonly layout: DaemonLayout;
  readonly processes: AdoptedProcesses;
  readonly #dependencies: DaemonDependencies;
  readonly #listener: DaemonListener;
  #connected: Promise<LibvirtConnection> | undefined;
  #process: DaemonProcess | undefined;
  #exit: DaemonExit | undefined;
  #keeper: Keeper | undefined;
  #closed = false;

  constructor(dependencies: DaemonDependencies, listener: DaemonListener) {
    this.#dependencies = dependencies;
    this.#listener = listener;
    this.layout = daemonLayout(dependencies.directory);
    this.processes = new AdoptedProcesses(this.layout.machines);
  }

  /** The connection to the daemon, which is started if need be. Waits while a daemon that died is being replaced. */
  connection(): Promise<LibvirtConnection> {
    if (this.#closed) return Promise.reject(errors.StackDaemonLost("talk to libvirt: the stack was closed"));
    return (this.#connected ??= this.#remember(this.#begin()));
  }

  /** Keeps what this daemon has found out about emulators for the next one; where it cannot, it is found out again. */
  async shareKnowledge(): Promise<void> {
    const { sharedCache, logger } = this.#dependencies;
    if (sharedCache?.writable !== true) return;
    await copyCapabilities(this.layout.capabilities, sharedCache.directory).catch((error: unknown) =>
      logger.debug("cannot keep what is known about emulators", { error: describeError(error) }),
    );
  }

  /** Ends the daemon and removes its files. Machines must have ended before. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const process = this.#process;
    if (process !== undefined) {
      const timer = this.#dependencies.clock.setTimer(stopLimitMs, () => process.kill("SIGKILL"));
      process.kill("SIGTERM");
      await process.exited;
      timer.cancel();
    }
    (await this.#connected?.catch(() => undefined))?.close();
    await this.#keeper?.release();
    this.processes.stop();
    await rm(this.#dependencies.directory, { recursive: true, force: true });
  }

  async #begin(): Promise<LibvirtConnection> {
    const { sharedCache, programs = [] } = this.#dependencies;
    await prepareDaemon(this.layout, programs);
    // What cannot be read is asked again.
    if (sharedCache !== undefined) {
      await copyCapabilities(sharedCache.directory, this.layout.capabilities).catch(() => undefined);
    }
    this.#keeper ??= startKeeper(this.layout.machines);
    this.processes.except(this.#keeper.pid);
    this.processes.start();
    await this.#spawn();
    return this.#connect();
  }

  /** After a failure the next caller tries again from the beginning. */
  #remember(connecting: Promise<LibvirtConnection>): Promise<LibvirtConnection> {
    connecting.catch(() => (this.#connected = undefined));
    return connecting;
  }

  async #spawn(): Promise<void> {
    const { logger } = this.#dependencies;
    const program = await findDaemon();
    if (program === undefined) throw notStarted("neither virtqemud nor libvirtd is installed in the launcher's image");
    const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
    const daemon = await spawnDaemon({
      program,
      layout: this.layout,
      userCommand: daemonUserCommand({
        uid: process.getuid?.() ?? 0,
        passwd,
        hostName: this.#dependencies.hostName,
        hiddenDevice: await this.#hide(this.#dependencies.hiddenDevice),
      }),
      onLine: (line) => logger.debug("libvirt", { line }),
    });
    logger.debug("libvirt daemon started", { program, pid: daemon.pid });
    this.processes.except(daemon.pid);
    this.#process = daemon;
    this.#exit = undefined;
    void daemon.exited.then((exit) => (this.#exit = exit));
  }

  async #hide(path: string | undefined): Promise<{ path: string; cover: string } | undefined> {
    if (path === undefined) return undefined;
    const cover = join(this.layout.data, "cover");
    await writeFile(cover, "");
    await chmod(cover, 0);
    return { path, cover };
  }

  /** Waits until the daemon listens; gives up when it ends or takes too long. */
  async #connect(): Promise<LibvirtConnection> {
    const { clock } = this.#dependencies;
    const deadline = clock.monotonic() + startLimitMs;
    for (;;) {
      try {
        return await this.#open();
      } catch (cause) {
        const exit = this.#exit;
        if (exit !== undefined) throw notStarted(`it ended (${exit.signal ?? exit.code}): ${exit.output}`, cause);
        if (clock.monotonic() > deadline) throw notStarted(`no answer within ${startLimitMs / 1000} s`, cause);
        await clock.sleep(connectRetryMs);
      }
    }
  }

  async #open(): Promise<LibvirtConnection> {
    let serving = false;
    const connection = await LibvirtConnection.open({
      socketPath: this.layout.socket,
      clock: this.#dependencies.clock,
      onEvent: (event) => this.#listener.onEvent(event),
      onClose: () => {
        if (serving && !this.#closed) this.#connected = this.#remember(this.#restore());
      },
    });
    await connection.listen(this.#listener.events, this.#listener.monitorEvents);
    serving = true;
    return connection;
  }

  /** The daemon has died or hung up: brings one back, which finds the machines that run. */
  async #restore(): Promise<LibvirtConnection> {
    const { clock, logger } = this.#dependencies;
    logger.warn("the connection to the libvirt daemon is lost; starting it again");
    for (let attempt = 1; ; attempt += 1) {
      await clock.sleep(restartDelayMs);
      if (this.#closed) throw errors.StackDaemonLost("start the libvirt daemon again: the stack was closed");
      try {
        if (this.#exit !== undefined) await this.#spawn();
        const connection = await this.#connect();
        await this.#listener.onReconnect(connection);
        logger.info("the libvirt daemon is back");
        return connection;
      } catch (error) {
        logger.warn("the libvirt daemon does not come back", { attempt, error: describeError(error) });
        if (attempt >= maxRestarts) throw error;
      }
    }
  }
}

function notStarted(reason: string, cause?: unknown): Error {
  return errors.StackStartFailed(`start the libvirt daemon: ${reason}`, cause === undefined ? {} : { cause });
}
