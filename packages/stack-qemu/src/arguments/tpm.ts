import { checkSocketPath } from "./character-device.ts";
import { deviceId } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

const program = "/usr/bin/swtpm";

/** A TPM 2.0 that swtpm emulates in a process of its own. It keeps its state where the definition's life time says. */
export function addTpms(domain: DomainSection, plan: MachinePlan): void {
  const [tpm, ...others] = domain.requireChild("devices").children("tpms");
  if (tpm === undefined) return;
  if (others[0] !== undefined) throw others[0].refuse("model", "a machine has one TPM");
  const backend = tpm.requireChild("backend");
  backend.oneOf("type", ["emulator"]);
  if ((backend.oneOf("version", ["2.0"]) ?? "2.0") !== "2.0") throw backend.refuse("version", "only 2.0 is known");
  const model = tpm.oneOf("model", ["tpm-tis", "tpm-crb"]) ?? "tpm-tis";
  const arm = plan.architecture.name === "aarch64";
  if (arm && model === "tpm-crb") throw tpm.refuse("model", "arm64 machines have only tpm-tis");
  const persistent = backend.toggle("persistentState") ?? false;
  // Where libvirt puts it, too: what one stack has kept, the other finds.
  const state = `${persistent ? plan.host.persistentDirectory : plan.host.stateDirectory}/swtpm/tpm2`;
  const socket = `${plan.host.stateDirectory}/swtpm.sock`;
  checkSocketPath(socket, backend.path);
  plan.requireFile(program, `${tpm.path}: an emulated TPM needs the package swtpm in the launcher's image`);
  plan.addCompanion({
    name: "swtpm",
    program,
    args: [
      "socket",
      "--tpm2",
      "--tpmstate",
      `dir=${state},mode=0600`,
      "--ctrl",
      `type=unixio,path=${socket},mode=0600`,
      // It ends with QEMU's connection.
      "--terminate",
    ],
    directories: [state],
    socket,
  });
  const id = deviceId(tpm, "tpm0", plan);
  plan.addChardev("socket", { id: `char${id}`, path: socket });
  plan.addBackend("-tpmdev", "emulator", { id: `tpm-${id}`, chardev: `char${id}` });
  plan.addDevice(arm ? "tpm-tis-device" : model, { id, tpmdev: `tpm-${id}` });
}
