import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Event } from "@polyvirt/api/k8s";
import { describeError, hasCode, type Logger } from "@polyvirt/core";
import type { DomainDocument } from "@polyvirt/protocol";
import type { GhostRecord, GhostRecords } from "./ghost-records.ts";
import type { LauncherProcess } from "../network/guest-network.ts";
import { connectLauncher, type LauncherConnection, type LauncherConnectionDeps } from "./launcher-connection.ts";
import type { LauncherCommands } from "./launcher-commands.ts";

/** What virt-handler knows of one launcher. */
export interface LauncherView {
  /** `absent`: has not opened its socket yet; `lost`: was there, or should have been, and has ended. */
  readonly state: "absent" | "connected" | "lost";
  readonly lostReason: string | undefined;
  /** The last state of the machine; it outlives the launcher. Undefined when there never was a machine. */
  readonly domain: DomainDocument | undefined;
  readonly commands: LauncherCommands | undefined;
  readonly process: LauncherProcess | undefined;
}

export interface LaunchersDeps extends LauncherConnectionDeps {
  readonly ghosts: GhostRecords;
  readonly logger: Logger;
  /** Something about this VMI has changed: look at it again. */
  readonly onChange: (record: GhostRecord) => void;
  readonly onEvent: (record: GhostRecord, event: Pick<Event, "type" | "reason" | "message">) => void;
}

/** All launchers of this node, by UID of their VMI. */
export interface Launchers {
  /** Connects if that has not been done; answers with what is known afterwards. */
  look(record: GhostRecord): Promise<LauncherView>;
  /** Records of launchers that were connected here, also before the last restart. */
  known(): GhostRecord[];
  /** The VMI is over: closes everything and drops the record. */
  forget(uid: string): Promise<void>;
  /** Lets go of all launchers without ending anything. */
  close(): Promise<void>;
}

interface Entry {
  readonly record: GhostRecord;
  connection: LauncherConnection | undefined;
  connecting: Promise<void> | undefined;
  domain: DomainDocument | undefined;
  lostReason: string | undefined;
}

export function createLaunchers(deps: LaunchersDeps): Launchers {
  return new LauncherTable(deps);
}

class LauncherTable implements Launchers {
  readonly #deps: LaunchersDeps;
  readonly #entries = new Map<string, Entry>();

  constructor(deps: LaunchersDeps) {
    this.#deps = deps;
  }

  known(): GhostRecord[] {
    return this.#deps.ghosts.list();
  }

  async look(record: GhostRecord): Promise<LauncherView> {
    const entry = this.#entry(record);
    if (entry.connection === undefined && entry.lostReason === undefined) {
      entry.connecting ??= this.#connect(entry).finally(() => (entry.connecting = undefined));
      await entry.connecting;
    }
    return viewOf(entry);
  }

  async forget(uid: string): Promise<void> {
    const entry = this.#entries.get(uid);
    this.#entries.delete(uid);
    await entry?.connection?.close();
    this.#deps.ghosts.remove(uid);
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.flatMap(({ connection }) => (connection === undefined ? [] : [connection.close()])));
  }

  #entry(record: GhostRecord): Entry {
    const known = this.#entries.get(record.uid);
    if (known !== undefined) return known;
    const entry: Entry = {
      record,
      connection: undefined,
      connecting: undefined,
      domain: undefined,
      lostReason: undefined,
    };
    this.#entries.set(record.uid, entry);
    return entry;
  }

  async #connect(entry: Entry): Promise<void> {
    const { record } = entry;
    const wasConnected = this.#deps.ghosts.get(record.uid)?.podUid === record.podUid;
    try {
      const connection = await connectLauncher(this.#deps, record, {
        onDomain: (domain) => this.#setDomain(entry, domain),
        onEvent: (event) => this.#deps.onEvent(record, event),
        onLost: (reason) => this.#lose(entry, reason),
      });
      entry.connection = connection;
      this.#deps.ghosts.put(record);
      const domain = await connection.commands.getDomain();
      // An event that came meanwhile is newer than the answer.
      if (domain !== undefined) entry.domain ??= domain;
    } catch (error) {
      // A launcher that has been here and whose socket is gone has ended; one that has not is still starting.
      if (hasCode(error, "HandlerLauncherAbsent") && !wasConnected) return;
      if (hasCode(error, "HandlerLauncherAbsent") || hasCode(error, "HandlerLauncherGone")) {
        this.#lose(entry, describeError(error));
        return;
      }
      await entry.connection?.close();
      entry.connection = undefined;
      throw error;
    }
  }

  #setDomain(entry: Entry, domain: DomainDocument): void {
    entry.domain = domain;
    this.#deps.onChange(entry.record);
  }

  #lose(entry: Entry, reason: string): void {
    if (entry.lostReason !== undefined || this.#entries.get(entry.record.uid) !== entry) return;
    entry.lostReason = reason;
    this.#deps.logger.info("lost a launcher", { vmi: `${entry.record.namespace}/${entry.record.name}`, reason });
    const { connection } = entry;
    entry.connection = undefined;
    connection
      ?.close()
      .catch((error: unknown) => this.#deps.logger.warn("closing failed", { error: describeError(error) }));
    this.#deps.onChange(entry.record);
  }
}

function viewOf({ connection, lostReason, domain }: Entry): LauncherView {
  const state = lostReason !== undefined ? "lost" : connection === undefined ? "absent" : "connected";
  return { state, lostReason, domain, commands: connection?.commands, process: connection?.process };
}

/** The launcher of a VMI on this node, as its status names it; undefined when it has none here. */
export function launcherOf(vmi: VirtualMachineInstance, nodeName: string): GhostRecord | undefined {
  const { uid, name, namespace } = vmi.metadata;
  const podUids = Object.entries(vmi.status?.activePods ?? {}).flatMap(([pod, node]) =>
    node === nodeName ? [pod] : [],
  );
  const [podUid] = podUids;
  if (uid === undefined || name === undefined || namespace === undefined || podUid === undefined) return undefined;
  return { uid, name, namespace, podUid };
}
