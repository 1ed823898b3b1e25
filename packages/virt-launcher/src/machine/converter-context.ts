import * as fs from "node:fs";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { parseArchitecture, type Architecture, type ConverterContext, type Hypervisor } from "@polyvirt/hypervisor";
import type { cmdV1 } from "@polyvirt/protocol";
import { findFile } from "../disks/image-file.ts";
import type { LauncherOptions } from "../launcher-options.ts";
import type { LauncherPaths } from "../launcher-paths.ts";
import { allocatedDevices } from "./host-devices.ts";
import { checkKernel } from "./kernel-architecture.ts";
import { sharedFolderSockets } from "./shared-folders.ts";

interface ContextDependencies {
  readonly options: LauncherOptions;
  readonly paths: LauncherPaths;
  readonly hypervisor: Pick<Hypervisor, "node">;
  readonly hostArchitecture: Architecture;
}

/** What was made ready for this guest before the conversion. */
type PreparedParts = Pick<ConverterContext, "volumes" | "network" | "firmware">;

/** Everything that the conversion has to know about this pod and this cluster. */
export function converterContext(
  vmi: VirtualMachineInstance,
  machineOptions: cmdV1.VirtualMachineOptions | undefined,
  prepared: PreparedParts,
  dependencies: ContextDependencies,
): ConverterContext {
  const { options, paths, hypervisor } = dependencies;
  const guest = guestDirectory(options, paths);
  return {
    host: {
      architecture: dependencies.hostArchitecture,
      // A cluster that allows emulation asks for no device for its launchers; one that is visible all the same is not
      // theirs, and on nested hosts it may not even work.
      hypervisorDeviceAvailable:
        !options.allowEmulation && fs.existsSync(`${paths.devices}/${hypervisor.node.hypervisorDevice}`),
      hasExecutable: isExecutable,
    },
    emulation: { allowed: options.allowEmulation, crossArchitectureAllowed: options.allowCrossArchitecture },
    paths: {
      serialConsole: `${guest}/virt-serial0`,
      serialConsoleLog: `${guest}/virt-serial0-log`,
      vnc: `${guest}/virt-vnc`,
      guestAgent: `${guest}/virt-agent`,
      usbRedirection: `${guest}/virt-usbredir-`,
    },
    ...prepared,
    ...kernelBoot(vmi, paths, dependencies.hostArchitecture),
    acpiTables: acpiTables(vmi, paths),
    hostDevices: allocatedDevices(vmi, options.deviceVariables ?? {}),
    virtiofsSockets: sharedFolderSockets(vmi, paths),
    settings: machineSettings(machineOptions),
  };
}

/** Where the sockets of the guest's devices are; virt-handler looks for them there. */
export function guestDirectory(options: LauncherOptions, paths: LauncherPaths): string {
  return `${paths.private}/${options.vmi.uid}`;
}

function kernelBoot(
  { spec }: VirtualMachineInstance,
  paths: LauncherPaths,
  hostArchitecture: Architecture,
): Pick<ConverterContext, "kernelBoot"> {
  const container = spec.domain.firmware?.kernelBoot?.container;
  if (container === undefined) return {};
  const mount = `${paths.containerDisks}/kernel-boot`;
  const kernel = container.kernelPath ? findFile(mount, container.kernelPath) : undefined;
  if (kernel !== undefined) {
    checkKernel(kernel, parseArchitecture(spec.architecture ?? "") ?? hostArchitecture, container.image);
  }
  return {
    kernelBoot: {
      ...(kernel === undefined ? {} : { kernel }),
      ...(container.initrdPath ? { initrd: findFile(mount, container.initrdPath) } : {}),
    },
  };
}

/** Tables that Windows looks for its licence in, from the Secrets that the VMI names by their volumes. */
function acpiTables({ spec }: VirtualMachineInstance, paths: LauncherPaths): { slic?: string; msdm?: string } {
  const { slicNameRef, msdmNameRef } = spec.domain.firmware?.acpi ?? {};
  const find = (volume: string | undefined, file: string): string | undefined => {
    const path = `${paths.private}/secret/${volume}/${file}`;
    return volume !== undefined && fs.existsSync(path) ? path : undefined;
  };
  const [slic, msdm] = [find(slicNameRef, "slic.bin"), find(msdmNameRef, "msdm.bin")];
  return { ...(slic === undefined ? {} : { slic }), ...(msdm === undefined ? {} : { msdm }) };
}

function machineSettings(given: cmdV1.VirtualMachineOptions | undefined): ConverterContext["settings"] {
  const smbios = given?.VirtualMachineSMBios;
  const cluster = given?.clusterConfig;
  return {
    memBalloonStatsPeriod: given?.MemBalloonStatsPeriod ?? 0,
    freePageReporting: cluster?.FreePageReportingDisabled !== true,
    bochsDisplayForEfiGuests: cluster?.BochsDisplayForEFIGuests ?? true,
    serialConsoleLog: cluster?.SerialConsoleLogDisabled !== true,
    smbios: {
      manufacturer: smbios?.manufacturer || "KubeVirt",
      product: smbios?.product || "None",
      family: smbios?.family || "KubeVirt",
      ...(smbios?.version ? { version: smbios.version } : {}),
      ...(smbios?.sku ? { sku: smbios.sku } : {}),
    },
  };
}

function isExecutable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
