import type { Configurator } from "../contract.ts";
import { refuse } from "./refuse.ts";

const ignitionAnnotation = "kubevirt.io/ignitiondata";

/** What only QEMU's own arguments can say: the first-boot configuration of operating systems that read it from firmware. */
export const commandLine: Configurator = {
  name: "command-line",
  configure(domain, vmi, context) {
    if (!vmi.metadata.annotations?.[ignitionAnnotation]) return;
    const file = context.paths.ignition;
    if (file === undefined)
      throw refuse(`metadata.annotations.${ignitionAnnotation}`, "the launcher has not written the data");
    domain.qemuCommandline = {
      args: [{ value: "-fw_cfg" }, { value: `name=opt/com.coreos/config,file=${file}` }],
    };
  },
};
