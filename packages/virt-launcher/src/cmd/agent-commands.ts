import type { Clock, Logger } from "@polyvirt/core";
import type { cmdV1, ServiceImplementation } from "@polyvirt/protocol";
import { requirePart, type GuestAgent, type Stack } from "@polyvirt/stack";
import type { CredentialSync } from "../access-credentials/credential-sync.ts";
import { FreezeLimit } from "./freeze-limit.ts";
import { ProbeNews } from "./probe-news.ts";
import { guestAgentInfo, guestFilesystem, guestUser } from "./guest-info.ts";

const success = { success: true };
const defaultTimeoutMs = 5_000;
/** So much of a command is shown to people. */
const maxCommand = 120;

export interface AgentCommandDependencies {
  readonly stack: Stack;
  readonly credentials: Pick<CredentialSync, "result">;
  readonly onProbeFailed: (message: string) => void;
  readonly clock: Pick<Clock, "setTimer">;
  readonly logger: Logger;
}

/** The part of the Cmd API that the guest's agent answers. */
export function agentCommands(dependencies: AgentCommandDependencies): ServiceImplementation<typeof cmdV1.Cmd> {
  const { stack } = dependencies;
  const freezeLimit = new FreezeLimit(dependencies);
  const probes = new ProbeNews(dependencies.onProbeFailed);
  const agent = (operation: string): GuestAgent => requirePart(stack, "guestAgent", operation);
  const limit = (seconds: number): number => (seconds > 0 ? seconds * 1000 : defaultTimeoutMs);
  return {
    /** Without an agent this is no failure: the condition says so. */
    async getGuestInfo() {
      const condition = (await stack.guestAgent?.condition()) ?? { connected: false, supported: false };
      // Addition: the node agent makes a condition of it.
      const accessCredentials = dependencies.credentials.result();
      const guestInfo = condition.connected ? await describeGuest(agent("read guest information")) : undefined;
      return {
        response: success,
        guestInfoResponse: guestInfo === undefined ? "" : JSON.stringify({ ...guestInfo, accessCredentials }),
        guestAgentCondition: condition,
      };
    },
    async getUsers() {
      const users = (await agent("list users").users()).map(guestUser);
      return { response: success, guestUserListResponse: JSON.stringify(users) };
    },
    async getFilesystems() {
      const filesystems = (await agent("list file systems").filesystems()).map(guestFilesystem);
      return { response: success, guestFilesystemsResponse: JSON.stringify(filesystems) };
    },
    async exec({ Command, Args, timeoutSeconds }) {
      const { exitCode, stdout } = await probes.watch(
        `run ${[Command, ...Args].join(" ").slice(0, maxCommand)} in the guest`,
        () => agent("run a command").exec(Command, Args, limit(timeoutSeconds)),
        (answer) => (answer.exitCode === 0 ? undefined : `it ended with exit code ${answer.exitCode}`),
      );
      return { response: success, exitCode, stdOut: stdout };
    },
    async guestPing({ timeoutSeconds }) {
      await probes.watch(
        "ping the guest's agent",
        () => agent("ping the guest").ping(limit(timeoutSeconds)),
        () => undefined,
      );
      return { response: success };
    },
    async freezeVirtualMachine({ unfreezeTimeoutSeconds }) {
      const guest = agent("freeze file systems");
      // Before the first write waits: whatever happens to whoever asked, the guest gets its disks back.
      freezeLimit.begin(unfreezeTimeoutSeconds * 1000, guest);
      if ((await guest.info()).filesystemsFrozen !== true) await guest.freeze();
      return success;
    },
    async softRebootVirtualMachine() {
      await agent("reboot the guest").reboot();
      return success;
    },
    async unfreezeVirtualMachine() {
      await agent("thaw file systems").thaw();
      freezeLimit.end();
      return success;
    },
  };
}

/** One command after the other: an agent does one thing at a time. */
async function describeGuest(agent: GuestAgent) {
  const info = await agent.info();
  const has = (command: string) => info.supportedCommands.includes(command);
  const users = has("guest-get-users") ? await agent.users() : [];
  return guestAgentInfo(info, users, has("guest-get-fsinfo") ? await agent.filesystems() : []);
}
