import type { VirtualMachineInstance } from "@polyvirt/api";
import { hasCode } from "@polyvirt/core";
import {
  cmdInfo,
  cmdV1,
  createGrpcClient,
  decodeDomainDocument,
  type DomainDocument,
  type GrpcClient,
} from "@polyvirt/protocol";
import { errors } from "../errors.ts";
import { readGuestInfo, type GuestInfo } from "../guest/guest-info.ts";

export type SyncOptions = Parameters<GrpcClient<typeof cmdV1.Cmd>["syncVirtualMachine"]>[0]["options"];

/** What virt-handler asks a launcher to do. */
export interface LauncherCommands {
  /** Throws HandlerLauncherIncompatible when there is no common version. */
  checkVersion(): Promise<void>;
  ping(): Promise<void>;
  /** Undefined when the launcher has no machine (yet, or any more). */
  getDomain(): Promise<DomainDocument | undefined>;
  getGuestInfo(): Promise<GuestInfo>;
  /** The program that runs the machine. */
  getVmm(): Promise<VmmInfo>;
  sync(vmi: VirtualMachineInstance, options: SyncOptions): Promise<void>;
  send(command: LauncherCommand, vmi: VirtualMachineInstance): Promise<void>;
  close(): void;
}

interface VmmInfo {
  readonly name: string;
  readonly version: string;
}

export type LauncherCommand = keyof typeof methods;

const methods = {
  shutdown: "shutdownVirtualMachine",
  kill: "killVirtualMachine",
  delete: "deleteVirtualMachine",
  pause: "pauseVirtualMachine",
  unpause: "unpauseVirtualMachine",
  reset: "resetVirtualMachine",
  softreboot: "softRebootVirtualMachine",
} as const;

const SHORT_MS = 5_000;
const LONG_MS = 20_000;
/** The launcher asks the guest several things, one after the other. */
const GUEST_MS = 15_000;
const OUR_VERSION = 1;

/** `address` names an opened socket: `unix:/proc/self/fd/7`. */
export function createLauncherCommands(address: string, label: string): LauncherCommands {
  const options = { timeoutMs: SHORT_MS };
  const cmd = createGrpcClient(cmdV1.Cmd, address, options);
  const request = (vmi: VirtualMachineInstance) => ({ vmi: { vmiJson: Buffer.from(JSON.stringify(vmi)) } });

  return {
    async checkVersion() {
      const info = createGrpcClient(cmdInfo.CmdInfo, address, options);
      const { supportedCmdVersions } = await info.info({}).finally(() => info.close());
      if (supportedCmdVersions.includes(OUR_VERSION)) return;
      throw errors.HandlerLauncherIncompatible(
        `talk to the launcher of ${label}: it speaks versions ${supportedCmdVersions.join(", ")}, we speak ${OUR_VERSION}`,
      );
    },
    async ping() {
      accept(`ping the launcher of ${label}`, await cmd.ping({}));
    },
    async getDomain() {
      const { response, domain } = await cmd.getDomain({});
      accept(`ask the launcher of ${label} for its machine`, response);
      return domain === "" || domain === "null" ? undefined : decodeDomainDocument(domain);
    },
    async getGuestInfo() {
      const { response, guestInfoResponse, guestAgentCondition } = await cmd.getGuestInfo({}, { timeoutMs: GUEST_MS });
      accept(`ask the guest of ${label} about itself`, response);
      return readGuestInfo(guestInfoResponse, guestAgentCondition ?? { connected: false, supported: false });
    },
    async getVmm() {
      const limit = { timeoutMs: GUEST_MS };
      try {
        const [{ name }, { version }] = await Promise.all([cmd.getVmmName({}, limit), cmd.getVmmVersion({}, limit)]);
        return { name: plain(name), version: plain(version) };
      } catch (error) {
        if (!hasCode(error, "ProtocolUnimplemented")) throw error;
      }
      // KubeVirt's own launchers know only one VMM.
      const { version } = await cmd.getQemuVersion({}, limit);
      return { name: "QEMU", version: plain(version) };
    },
    async sync(vmi, options) {
      const operation = `start or update the machine of ${label}`;
      await judged(operation, async () =>
        accept(
          operation,
          await cmd.syncVirtualMachine(
            { ...request(vmi), ...(options === undefined ? {} : { options }) },
            { timeoutMs: LONG_MS },
          ),
        ),
      );
    },
    async send(command, vmi) {
      const operation = `${command} the machine of ${label}`;
      await judged(operation, async () =>
        accept(operation, await cmd[methods[command]](request(vmi), { timeoutMs: LONG_MS })),
      );
    },
    close: () => cmd.close(),
  };
}

/** Short and printable: it is shown as it is. */
function plain(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "").slice(0, 64);
}

/** Errors travel in the answer as well as in gRPC's status. */
function accept(operation: string, response: { success: boolean; message: string } | undefined): void {
  if (response === undefined || response.success) return;
  throw errors.HandlerLauncherRefused(`${operation}: ${response.message || "the launcher refused without a reason"}`);
}

/** What the launcher said itself, in its own words; a launcher answers FAILED_PRECONDITION when repeating cannot help. */
async function judged(operation: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!hasCode(error, "ProtocolCallFailed")) throw error;
    // Without the address that gRPC's client put before it, which means nothing to people.
    const words = error.message.replace(/^call \S+ at \S+: /, "");
    const hopeless = error.fields["grpcStatus"] === "FAILED_PRECONDITION";
    const raise = hopeless ? errors.HandlerLauncherFailed : errors.HandlerLauncherRefused;
    throw raise(`${operation}: ${words}`);
  }
}
