import type { VirtualizationComponents } from "@polyvirt/api";
import type { ProcessNames } from "@polyvirt/hypervisor";

/** How to recognise a VMM and its threads: by the hypervisor's names, or by those of the cluster's stack. */
interface RecognisedProcesses {
  isVmm(command: string): boolean;
  /** What the stack says differently from the hypervisor. */
  readonly threads: { readonly isVcpuThread?: (name: string) => boolean; readonly pitThreadPrefix?: string };
}

/** The kernel keeps this much of a name. */
const COMMAND_LENGTH = 15;

export function processNames(
  { vmmPrefixes }: ProcessNames,
  { vmmProcessExecutable, vCpuRegex, pitPidPrefix }: VirtualizationComponents = {},
): RecognisedProcesses {
  const prefixes = (vmmProcessExecutable ? [vmmProcessExecutable] : vmmPrefixes).map((name) =>
    name.slice(0, COMMAND_LENGTH),
  );
  // Written for lines of /proc, so it may end in a line break. Names have at most 15 characters, which bounds any pattern.
  const pattern = vCpuRegex ? new RegExp(vCpuRegex, "u") : undefined;
  return {
    isVmm: (command) => prefixes.some((prefix) => command.startsWith(prefix)),
    threads: {
      ...(pattern === undefined
        ? {}
        : { isVcpuThread: (name: string) => pattern.test(name) || pattern.test(`${name}\n`) }),
      // The VMM's pid follows after a slash.
      ...(pitPidPrefix ? { pitThreadPrefix: `${pitPidPrefix.replace(/\/$/, "")}/` } : {}),
    },
  };
}
