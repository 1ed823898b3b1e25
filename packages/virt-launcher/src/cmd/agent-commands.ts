import type { cmdV1, ServiceImplementation } from "@polyvirt/protocol";
import { requirePart, type GuestAgent, type Stack } from "@polyvirt/stack";
import { guestAgentInfo, guestFilesystem, guestUser } from "./guest-info.ts";

const success = { success: true };
const defaultTimeoutMs = 5_000;

/** The part of the Cmd API that the guest's agent answers. */
export function agentCommands(stack: Stack): ServiceImplementation<typeof cmdV1.Cmd> {
  const agent = (operation: string): GuestAgent => requirePart(stack, "guestAgent", operation);
  const limit = (seconds: number): number => (seconds > 0 ? seconds * 1000 : defaultTimeoutMs);
  return {
    /** Without an agent this is no failure: the condition says so. */
    async getGuestInfo() {
      const condition = (await stack.guestAgent?.condition()) ?? { connected: false, supported: false };
      const guestInfo = condition.connected ? await describeGuest(agent("read guest information")) : undefined;
      return {
        response: success,
        guestInfoResponse: guestInfo === undefined ? "" : JSON.stringify(guestInfo),
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
      const { exitCode, stdout } = await agent("run a command").exec(Command, Args, limit(timeoutSeconds));
      return { response: success, exitCode, stdOut: stdout };
    },
    async guestPing({ timeoutSeconds }) {
      await agent("ping the guest").ping(limit(timeoutSeconds));
      return { response: success };
    },
    async freezeVirtualMachine() {
      await agent("freeze file systems").freeze();
      return success;
    },
    async softRebootVirtualMachine() {
      await agent("reboot the guest").reboot();
      return success;
    },
    async unfreezeVirtualMachine() {
      await agent("thaw file systems").thaw();
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
