import { hasCode, type Clock } from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { GuestAgent, GuestAgentCondition, GuestExecResult, GuestInfo } from "../guest-agent.ts";
import {
  readCommands,
  readExecStatus,
  readFilesystems,
  readFrozen,
  readHostname,
  readInterfaces,
  readKnownCommands,
  readOs,
  readPid,
  readTimezone,
  readUsers,
  readVersion,
} from "./agent-answers.ts";

/** How a stack reaches the agent. */
export interface QemuAgentChannel {
  /** Whether the guest has its end of the channel open. */
  isOpen(): boolean;
  /** Sends one command and returns what the agent answers. Without a machine it throws StackDomainNotFound. */
  execute(command: string, args: object | undefined, timeoutMs: number): Promise<unknown>;
}

/** The name by which an agent in the guest finds its channel. */
export const qemuAgentChannelName = "org.qemu.guest_agent.0";

const answerTimeoutMs = 3_000;
/** Freezing waits for every write of the guest to reach its disks. */
const freezeTimeoutMs = 55_000;
/** The guest makes a hash of a password, which is meant to take long. */
const passwordTimeoutMs = 10_000;
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

/**
 * QEMU's guest agent, which several monitors can reach. The stack brings the channel; what to ask and how far to believe
 * the answers is the same for all.
 */
export class QemuAgent implements GuestAgent {
  readonly #channel: QemuAgentChannel;
  readonly #clock: Pick<Clock, "monotonic" | "sleep">;

  constructor(channel: QemuAgentChannel, clock: Pick<Clock, "monotonic" | "sleep">) {
    this.#channel = channel;
    this.#clock = clock;
  }

  async condition(): Promise<GuestAgentCondition> {
    if (!this.#channel.isOpen()) return { connected: false, supported: false };
    try {
      const answer = await this.#ask("guest-info");
      const commands = readCommands(answer);
      const hasAll = (offered: readonly string[]) => requiredCommands.every((command) => offered.includes(command));
      if (hasAll(commands) || !commands.includes("guest-fsfreeze-status")) {
        return { connected: true, supported: hasAll(commands) };
      }
      // An agent that keeps file systems frozen withholds most commands until they are thawed: it is not too old.
      const frozen = readFrozen(await this.#ask("guest-fsfreeze-status"));
      return { connected: true, supported: frozen && hasAll(readKnownCommands(answer)) };
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
    const deadline = this.#clock.monotonic() + timeoutMs;
    const request = { path: command, arg: args, "capture-output": true };
    const pid = readPid(await this.#ask("guest-exec", request, timeoutMs));
    if (pid === undefined) throw errors.StackCommandFailed(`run ${command} in the guest: the agent named no process`);
    const left = () => deadline - this.#clock.monotonic();
    while (left() > 0) {
      const limitMs = Math.min(answerTimeoutMs, left());
      const { exited, exitCode, stdout } = readExecStatus(await this.#ask("guest-exec-status", { pid }, limitMs));
      if (exited) return { exitCode, stdout };
      await this.#clock.sleep(execPollMs);
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
    const wasThere = this.#channel.isOpen();
    // The agent answers only when it will not do it; silence is consent, and so is that it has gone down already.
    await this.#ask("guest-shutdown", { mode: "reboot" }, consentMs).catch((error: unknown) => {
      if (!wasThere || !hasCode(error, "StackGuestAgentUnavailable")) throw error;
    });
  }

  async addAuthorizedKeys(user: string, keys: readonly string[]): Promise<void> {
    await this.#ask("guest-ssh-add-authorized-keys", { username: user, keys });
  }

  async removeAuthorizedKeys(user: string, keys: readonly string[]): Promise<void> {
    await this.#ask("guest-ssh-remove-authorized-keys", { username: user, keys });
  }

  async setPassword(user: string, password: string): Promise<void> {
    const encoded = Buffer.from(password, "utf8").toString("base64");
    await this.#ask(
      "guest-set-user-password",
      { username: user, password: encoded, crypted: false },
      passwordTimeoutMs,
    );
  }

  #ask(command: string, args?: object, timeoutMs = answerTimeoutMs): Promise<unknown> {
    return this.#channel.execute(command, args, timeoutMs);
  }
}
