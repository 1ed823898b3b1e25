import { nodeLabels } from "@polyvirt/api";
import type { KernelTree } from "@polyvirt/host";
import type { Architecture } from "@polyvirt/hypervisor";

export interface HostLabelInput {
  readonly hostArchitecture: Architecture;
  readonly sys: KernelTree;
  readonly proc: KernelTree;
}

const vendors: Readonly<Record<string, string>> = { GenuineIntel: "Intel", AuthenticAMD: "AMD", HygonGenuine: "Hygon" };

/** What the kernel itself tells about the node, whatever stack runs on it. */
export function hostLabels({ hostArchitecture, sys, proc }: HostLabelInput): Record<string, string> {
  const vendor = hostArchitecture === "s390x" ? "IBM" : vendors[cpuVendor(proc) ?? ""];
  return {
    [nodeLabels.ksmEnabled]: String(sys.read("kernel/mm/ksm/run") === "1"),
    ...(proc.read("sys/kernel/sched_rt_runtime_us") === "-1" ? { [nodeLabels.realtime]: "true" } : {}),
    ...(vendor === undefined ? {} : { [`${nodeLabels.cpuVendorPrefix}${vendor}`]: "true" }),
    ...(sys.read("firmware/uv/prot_virt_host") === "1" ? { [nodeLabels.secureExecution]: "true" } : {}),
    ...(/^[Y1]/.test(sys.read("module/kvm_intel/parameters/tdx") ?? "") ? { [nodeLabels.tdx]: "true" } : {}),
  };
}

function cpuVendor(proc: KernelTree): string | undefined {
  return /^vendor_id\s*:\s*(\S+)/m.exec(proc.read("cpuinfo") ?? "")?.[1];
}
