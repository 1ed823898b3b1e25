import { hasCode, type Clock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import {
  errors,
  type GuestAgent,
  type GuestAgentCondition,
  type GuestExecResult,
  type GuestInfo,
} from "@polyvirt/stack";
import type { QemuLifecycle } from "../lifecycle/qemu-lifecycle.ts";
import type { QmpEvent } from "../qmp/qmp-client.ts";
import {
  readCommands,
  readExecStatus,
  readFilesystems,
  readFrozen,
  readHostname,
  readInterfaces,
  readOs,
  readPid,
  readTimezone,
  readUsers,
  readVersion,
} from "./agent-answers.ts";
import { AgentConnection } from "./agent-connection.ts";

const channelName = "org.qemu.guest_agent.0";
const answerTimeoutMs = 3_000;
/** Freezing waits for every write of the guest to reach its disks. */
const freezeTimeoutMs = 55_000;
const execPollMs = 100;
const consentMs = 1_000;

/** Without these an agent is of no use to us. */
const requiredCommands = [
  "guest-ping",
  "guest-info",
  "guest-get-osinfo",
  "guest-get-host-name",
  "guest-network-get-interfaces",
  "guest-get-fsinfo",
  "guest-get-users",
  "guest-get-timezone",
];

interface AgentDependencies {
  readonly lifecycle: QemuLifecycle;
  readonly clock: Clock;
}

/** The QEMU guest agent, over the channel that the definition gives it. */
export class QemuGuestAgent implements GuestAgent {
  readonly #dependencies: AgentDependencies;
  #connection: AgentConnection | undefined;
  /** Whether the guest has its end of the channel open. */
  #open = false;

  constructor(dependencies: AgentDependencies) {
    this.#dependencies = dependencies;
    dependencies.lifecycle.subscribe((event) => {
      if (event.kind !== "status") return;
      if (event.status.state === "Running") this.#listen();
      if (event.status.state === "Shutoff" || event.status.state === "Crashed") this.#hangUp();
    });
    dependencies.lifecycle.onMonitorEvent((event) => this.#onMonitorEvent(event));
  }

  async condition(): Promise<GuestAgentCondition> {
    if (!this.#open) return { connected: false, supported: false };
    try {
      const commands = readCommands(await this.#ask("guest-info"));
      return { connected: true, supported: requiredCommands.every((command) => commands.includes(command)) };
    } catch {
      // The guest opened the channel but nobody answers: as good as no agent.
      return { connected: false, supported: false };
    }
  }

  async ping(timeoutMs: number): Promise<void> {
    await this.#ask("guest-ping", undefined, timeoutMs);
  }

  async info(): Promise<GuestInfo> {
    const answer = await this.#ask("guest-info");
    const commands = readCommands(answer);
    const ask = async <T>(command: string, read: (value: unknown) => T): Promise<T | undefined> =>
      commands.includes(command) ? read(await this.#ask(command)) : undefined;
    const hostname = await ask("guest-get-host-name", readHostname);
    const os = await ask("guest-get-osinfo", readOs);
    const timezone = await ask("guest-get-timezone", readTimezone);
    const frozen = await ask("guest-fsfreeze-status", readFrozen);
    return {
      agentVersion: readVersion(answer),
      supportedCommands: commands,
      interfaces: (await ask("guest-network-get-interfaces", readInterfaces)) ?? [],
      ...(hostname === undefined ? {} : { hostname }),
      ...(os === undefined ? {} : { os }),
      ...(timezone === undefined ? {} : { timezone }),
      ...(frozen === undefined ? {} : { filesystemsFrozen: frozen }),
    };
  }

  users = async () => readUsers(await this.#ask("guest-get-users"));

  filesystems = async () => readFilesystems(await this.#ask("guest-get-fsinfo"));

  async exec(command: string, args: readonly string[], timeoutMs: number): Promise<GuestExecResult> {
    const { clock } = this.#dependencies;
    const deadline = clock.monotonic() + timeoutMs;
    const pid = readPid(await this.#ask("guest-exec", { path: command, arg: args, "capture-output": true }, timeoutMs));
    if (pid === undefined) throw errors.StackCommandFailed(`run ${command} in the guest: the agent named no process`);
    while (clock.monotonic() < deadline) {
      const { exited, exitCode, stdout } = readExecStatus(await this.#ask("guest-exec-status", { pid }));
      if (exited) return { exitCode, stdout };
      await clock.sleep(execPollMs);
    }
    throw errors.StackTimeout(`run ${command} in the guest: it did not end within ${timeoutMs} ms`);
  }

  async freeze(): Promise<void> {
    await this.#ask("guest-fsfreeze-freeze", undefined, freezeTimeoutMs);
  }

  async thaw(): Promise<void> {
    await this.#ask("guest-fsfreeze-thaw", undefined, freezeTimeoutMs);
  }

  async reboot(): Promise<void> {
    // The agent answers only when it will not do it; silence is consent.
    await this.#ask("guest-shutdown", { mode: "reboot" }, consentMs).catch((error: unknown) => {
      if (!hasCode(error, "StackGuestAgentUnavailable") || !this.#open) throw error;
    });
  }

  async #ask(command: string, args?: object, timeoutMs = answerTimeoutMs): Promise<unknown> {
    this.#dependencies.lifecycle.running("ask the guest agent of");
    if (this.#connection === undefined || !this.#open) {
      throw errors.StackGuestAgentUnavailable(`run ${command} in the guest: no agent has opened its channel`);
    }
    return this.#connection.execute(command, args, timeoutMs);
  }

  #listen(): void {
    const channel = agentChannel(this.#dependencies.lifecycle.domain()?.definition);
    if (channel === undefined || this.#connection !== undefined) return;
    this.#connection = new AgentConnection(channel.path, this.#dependencies.clock);
    // The agent may come later, or never; a command will try again.
    this.#connection.open().catch(() => undefined);
  }

  #hangUp(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#open = false;
  }

  #onMonitorEvent({ name, data }: QmpEvent): void {
    if (name !== "VSERPORT_CHANGE") return;
    const channel = agentChannel(this.#dependencies.lifecycle.domain()?.definition);
    if (channel === undefined || data["id"] !== channel.id) return;
    this.#open = data["open"] === true;
    this.#connection?.forgetSynchronization();
    this.#dependencies.lifecycle.report({ kind: "guestAgent", connected: this.#open });
  }
}

/** The channel of the definition that is the agent's: its id in QEMU, and the socket at our end. */
function agentChannel(definition: Domain | undefined): { id: string; path: string } | undefined {
  const channels = definition?.devices?.channels ?? [];
  const index = channels.findIndex(({ target }) => target?.name === channelName);
  const channel = channels[index];
  const path = channel?.sources?.[0]?.path;
  return path === undefined ? undefined : { id: channel?.alias?.name ?? `channel${index}`, path };
}
