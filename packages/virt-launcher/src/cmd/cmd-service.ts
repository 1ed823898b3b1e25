import type { VirtualMachineInstance } from "@polyvirt/api";
import { describeError, parseQuantity, quantityToInteger, type Clock, type Logger } from "@polyvirt/core";
import { vcpuCount } from "@polyvirt/hypervisor";
import {
  cmdInfo,
  cmdV1,
  encodeDomainDocument,
  grpcService,
  type DomainDocument,
  type GrpcService,
  type ServiceImplementation,
} from "@polyvirt/protocol";
import { collectCapabilities, requirePart, type CapabilityTarget, type Stack } from "@polyvirt/stack";
import type { CredentialSync } from "../access-credentials/credential-sync.ts";
import { errors } from "../errors.ts";
import type { VmiIdentity } from "../launcher-options.ts";
import type { Machine } from "../machine/machine.ts";
import { agentCommands } from "./agent-commands.ts";
import { migrationCommands } from "./migration-commands.ts";
import { statsCommands } from "./stats-commands.ts";

export interface CmdDependencies {
  readonly stack: Stack;
  readonly machine: Pick<Machine, "sync" | "forget" | "receive">;
  readonly vmi: VmiIdentity;
  readonly credentials: Pick<CredentialSync, "start" | "result">;
  readonly onProbeFailed: (message: string) => void;
  readonly describe: () => DomainDocument | undefined;
  readonly capabilityTarget: CapabilityTarget;
  /** Sockets through which the machine is moved. */
  readonly migrationSockets: { readonly source: string; readonly target: string };
  readonly onMigrationFailed: (message: string) => void;
  readonly clock: Pick<Clock, "setTimer">;
  readonly logger: Logger;
}

const cmdVersion = 1;
const success = { success: true };

/** The Cmd API, answered by the stack. A method that is not here is refused with the stack's name. */
export function cmdServices(dependencies: CmdDependencies): GrpcService[] {
  const { logger, stack } = dependencies;
  const options = {
    unimplementedMessage: (method: string) => `${method}: not supported by stack ${stack.name}`,
    onError: (path: string, error: unknown) => logger.warn("command failed", { path, error: describeError(error) }),
  };
  return [
    grpcService(cmdInfo.CmdInfo, { info: async () => ({ supportedCmdVersions: [cmdVersion] }) }),
    grpcService(
      cmdV1.Cmd,
      {
        ...machineCommands(dependencies),
        ...queries(dependencies),
        ...agentCommands(dependencies),
        ...migrationCommands({
          stack,
          machine: dependencies.machine,
          readVmi: (request) => readVmi(request, dependencies.vmi),
          sockets: dependencies.migrationSockets,
          onFailure: dependencies.onMigrationFailed,
          clock: dependencies.clock,
          logger,
        }),
      },
      options,
    ),
  ];
}

type CmdImplementation = ServiceImplementation<typeof cmdV1.Cmd>;

function machineCommands({ stack, machine, vmi, credentials }: CmdDependencies): CmdImplementation {
  const { lifecycle } = stack;
  const act = (action: () => Promise<void>) => async (request: cmdV1.VMIRequest) => {
    readVmi(request, vmi);
    await action();
    return success;
  };
  return {
    async syncVirtualMachine(request) {
      const instance = readVmi(request, vmi);
      await machine.sync(instance, request.options);
      credentials.start(instance);
      return success;
    },
    pauseVirtualMachine: act(() => lifecycle.pause()),
    unpauseVirtualMachine: act(() => lifecycle.resume()),
    resetVirtualMachine: act(() => lifecycle.reset()),
    shutdownVirtualMachine: act(() => lifecycle.shutdown()),
    killVirtualMachine: act(() => lifecycle.kill()),
    deleteVirtualMachine: act(() => machine.forget()),
    async syncVirtualMachineCPUs(request) {
      const count = vcpuCount(readVmi(request, vmi).spec.domain);
      await requirePart(stack, "hotplug", "change the CPUs").setVcpuCount(count);
      return success;
    },
    async syncVirtualMachineMemory(request) {
      const guest = readVmi(request, vmi).spec.domain.memory?.guest;
      if (guest === undefined)
        throw errors.LauncherRequestMalformed("change the memory: the VMI names no guest memory");
      const bytes = Number(quantityToInteger(parseQuantity(String(guest))));
      await requirePart(stack, "hotplug", "change the memory").setMemory(bytes);
      return success;
    },
  };
}

function queries({ stack, describe, capabilityTarget }: CmdDependencies): CmdImplementation {
  return {
    ping: async () => success,
    async getDomain() {
      const document = describe();
      return {
        response: success,
        domain: document === undefined ? "" : Buffer.from(encodeDomainDocument(document)).toString(),
      };
    },
    getVmmName: async () => ({ response: success, name: stack.vmmName }),
    getVmmVersion: async () => ({ response: success, version: await stack.vmmVersion() }),
    async getQemuVersion() {
      if (stack.vmmName !== "QEMU")
        throw errors.LauncherRequestMalformed(
          `tell QEMU's version: this launcher runs ${stack.vmmName}; use GetVmmVersion`,
        );
      return { response: success, version: await stack.vmmVersion() };
    },
    getCapabilities: async () => ({
      response: success,
      capabilities: await collectCapabilities(stack, capabilityTarget),
    }),
    async getScreenshot() {
      const { mime, data } = await requirePart(stack, "graphics", "take a screenshot").screenshot();
      return { response: success, mime, data };
    },
    ...statsCommands(stack),
  };
}

/** SAFETY: one launcher serves one VMI; a request about another one, whoever sends it, changes nothing. */
function readVmi(request: { readonly vmi?: cmdV1.VMI | undefined }, own: VmiIdentity): VirtualMachineInstance {
  let vmi: VirtualMachineInstance;
  try {
    // The node agent sends the object as the API server gave it, so it has passed the schema.
    vmi = JSON.parse(Buffer.from(request.vmi?.vmiJson ?? []).toString("utf8")) as VirtualMachineInstance;
  } catch (cause) {
    throw errors.LauncherRequestMalformed("read the VMI of a request: it is not JSON", { cause });
  }
  const { name, namespace, uid } = vmi.metadata ?? {};
  if (uid !== own.uid || name !== own.name || namespace !== own.namespace) {
    throw errors.LauncherVmiMismatch(
      `act on VMI ${namespace}/${name} (${uid}): this launcher serves ${own.namespace}/${own.name} (${own.uid})`,
    );
  }
  return vmi;
}
