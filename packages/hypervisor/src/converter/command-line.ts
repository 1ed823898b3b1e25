import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Configurator } from "../contract.ts";
import type { ConverterContext } from "./context.ts";
import { hasBestEmulatedCpu } from "./cpu.ts";
import { guestProfile } from "./profile.ts";
import { refuse } from "./refuse.ts";

const ignitionAnnotation = "kubevirt.io/ignitiondata";

/** What only QEMU's own arguments can say. */
export const commandLine: Configurator = {
  name: "command-line",
  configure(domain, vmi, context) {
    const args = [...ignition(vmi, context), ...cpuSwitches(vmi, context)];
    if (args.length > 0) domain.qemuCommandline = { args: args.map((value) => ({ value })) };
  },
};

/** The first-boot configuration of operating systems that read it from firmware. */
function ignition(vmi: VirtualMachineInstance, context: ConverterContext): string[] {
  if (!vmi.metadata.annotations?.[ignitionAnnotation]) return [];
  const file = context.paths.ignition;
  if (file === undefined)
    throw refuse(`metadata.annotations.${ignitionAnnotation}`, "the launcher has not written the data");
  return ["-fw_cfg", `name=opt/com.coreos/config,file=${file}`];
}

/** Not every libvirt has names for these features, so they cannot be said in the CPU's own element. */
function cpuSwitches(vmi: VirtualMachineInstance, context: ConverterContext): string[] {
  if (!hasBestEmulatedCpu(vmi, context)) return [];
  return guestProfile(vmi, context).emulatedCpuSwitches.flatMap((property) => ["-global", property]);
}
