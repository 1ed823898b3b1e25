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
import { readFilesystemList, readGuestAgentInfo, readUserList } from "../guest/guest-documents.ts";
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
  /** Makes the guest's file systems wait; they go on by themselves after the limit, unless it is zero. */
  freeze(vmi: VirtualMachineInstance, limitSeconds: number): Promise<void>;
  /** One of the documents that the guest tells of itself, as API objects. */
  ask(question: GuestQuestion): Promise<object>;
  screenshot(vmi: VirtualMachineInstance): Promise<Screenshot>;
  close(): void;
}

export type GuestQuestion = "guestosinfo" | "userlist" | "filesystemlist";

interface Screenshot {
  readonly mime: string;
  readonly data: Uint8Array;
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
  unfreeze: "unfreezeVirtualMachine",
} as const;

const SHORT_MS = 5_000;
const LONG_MS = 20_000;
/** The launcher asks the guest several things, one after the other. */
const GUEST_MS = 15_000;
/** Freezing waits for every write of the guest to reach its disks. */
const FREEZE_MS = 60_000;
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
        accept(
          operation,
          await cmd[methods[command]](request(vmi), { timeoutMs: command === "unfreeze" ? FREEZE_MS : LONG_MS }),
        ),
      );
    },
    async freeze(vmi, limitSeconds) {
      const operation = `freeze the file systems of ${label}`;
      const frozen = { ...request(vmi), unfreezeTimeoutSeconds: limitSeconds };
      await judged(operation, async () =>
        accept(operation, await cmd.freezeVirtualMachine(frozen, { timeoutMs: FREEZE_MS })),
      );
    },
    async ask(question) {
      const operation = `ask the guest of ${label} for its ${question}`;
      const { response, json } = await judged(operation, () => questions[question](cmd));
      accept(operation, response);
      return readers[question](json);
    },
    async screenshot(vmi) {
      const operation = `take a picture of the screen of ${label}`;
      const { response, mime, data } = await judged(operation, () =>
        cmd.getScreenshot(request(vmi), { timeoutMs: LONG_MS }),
      );
      accept(operation, response);
      return { mime, data };
    },
    close: () => cmd.close(),
  };
}

type Question = (cmd: GrpcClient<typeof cmdV1.Cmd>) => Promise<{ response: cmdV1.Response | undefined; json: string }>;

const questions: Readonly<Record<GuestQuestion, Question>> = {
  async guestosinfo(cmd) {
    const { response, guestInfoResponse: json } = await cmd.getGuestInfo({}, { timeoutMs: GUEST_MS });
    return { response, json };
  },
  async userlist(cmd) {
    const { response, guestUserListResponse: json } = await cmd.getUsers({}, { timeoutMs: GUEST_MS });
    return { response, json };
  },
  async filesystemlist(cmd) {
    const { response, guestFilesystemsResponse: json } = await cmd.getFilesystems({}, { timeoutMs: GUEST_MS });
    return { response, json };
  },
};

const readers: Readonly<Record<GuestQuestion, (json: string) => object>> = {
  guestosinfo: readGuestAgentInfo,
  userlist: readUserList,
  filesystemlist: readFilesystemList,
};

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
async function judged<T>(operation: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!hasCode(error, "ProtocolCallFailed")) throw error;
    // Without the address that gRPC's client put before it, which means nothing to people.
    const words = error.message.replace(/^call \S+ at \S+: /, "");
    const hopeless = error.fields["grpcStatus"] === "FAILED_PRECONDITION";
    const raise = hopeless ? errors.HandlerLauncherFailed : errors.HandlerLauncherRefused;
    throw raise(`${operation}: ${words}`);
  }
}
