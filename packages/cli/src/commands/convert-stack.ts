import { validateDomain, writeDomain, type Domain } from "@polyvirt/domain";
import { buildArguments } from "@polyvirt/stack-qemu";

/** A machine as text; throws when the stack could not run it. */
export type MachineWriter = (domain: Domain) => string;

const stateDirectory = "/var/run/kubevirt-private";

/** What each stack makes of a machine. `any` is no stack: the machine definition as it is, whoever runs it. */
const stacks: Readonly<Record<string, Readonly<Record<string, MachineWriter>>>> = {
  any: { xml: writeDomain },
  libvirt: { xml: writeForLibvirt },
  qemu: {
    xml: (domain) => {
      qemuCommand(domain);
      return writeDomain(domain);
    },
    args: qemuCommand,
  },
};

export const stackNames: readonly string[] = Object.keys(stacks).filter((name) => name !== "any");

export function stackOutputs(stack: string): Readonly<Record<string, MachineWriter>> | undefined {
  return stacks[stack];
}

function writeForLibvirt(domain: Domain): string {
  const faults = validateDomain(domain);
  if (faults.length > 0) {
    const texts = faults.map(({ path, problem }) => `${path} ${problem}`);
    throw new Error(`libvirt's schema refuses ${texts.join("; ")}`);
  }
  return writeDomain(domain);
}

/** The command line, one option to a line and quoted for a shell. */
function qemuCommand(domain: Domain): string {
  const host = { now: Date.now(), stateDirectory, persistentDirectory: stateDirectory };
  const { emulator, args } = buildArguments(domain, host);
  const lines: string[] = [emulator];
  for (const argument of args) {
    if (argument.startsWith("-")) lines.push(argument);
    else lines[lines.length - 1] += ` ${quote(argument)}`;
  }
  return `${lines.join(" \\\n  ")}\n`;
}

function quote(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}
