import { cpuModelDefault } from "../defaults/cpu.ts";
import { defineHypervisor } from "../define-hypervisor.ts";
import type { ValidationRule } from "../validation/rule.ts";

/** The only CPU model that QEMU's accelerator for this hypervisor presents faithfully. */
const cpuModel = "qemu64-v1";

const wrongModel = (model: string) =>
  ({
    level: "unsupported",
    message: `CPU model '${model}' is not supported by hypervisor mshv on amd64 (allowed values: [${cpuModel}])`,
  }) as const;

const checkCpuModel: ValidationRule = {
  name: "mshv-cpu-model",
  check({ spec, field }, report) {
    const model = spec.domain.cpu?.model ?? "";
    // The registry below has the two that are no names.
    if (model === cpuModel || model === "host-model" || model === "host-passthrough") return;
    report.notSupported(`${field}.domain.cpu.model`, wrongModel(model).message);
  },
};

const kvmOnly = (what: string) =>
  ({ level: "unsupported", message: `${what} needs hypervisor kvm and is not supported by mshv` }) as const;
const noEnlightenment = (name: string) =>
  ({ level: "unsupported", message: `Hyper-V enlightenment ${name} is not supported by hypervisor mshv` }) as const;

/** Microsoft's hypervisor under Linux (/dev/mshv), driven by QEMU. */
export const mshv = defineHypervisor({
  name: "mshv",
  aliases: ["hyperv-direct"],
  node: { hypervisorDevice: "mshv", virtType: "hyperv", architectures: ["amd64", "arm64"] },
  processes: { vmmPrefixes: ["qemu-system"], vcpuThreadWords: ["CPU ", "MSHV"] },
  defaults: { pair: { amd64: [{ name: "mshv-cpu-model", set: cpuModelDefault(cpuModel) }] } },
  validation: { pair: { amd64: [checkCpuModel] } },
  capabilities: {
    mshv: {
      "launch-security.sev": kvmOnly("AMD SEV"),
      "launch-security.snp": kvmOnly("AMD SEV-SNP"),
      "launch-security.tdx": kvmOnly("Intel TDX"),
      "features.kvm": kvmOnly("hiding the KVM signature"),
      "features.pvspinlock": kvmOnly("paravirtual spinlocks"),
      "clock.kvm": kvmOnly("the kvmclock timer"),
      "gpus.virtual-display": kvmOnly("the display of a mediated device"),
      "hyperv.passthrough": noEnlightenment("passthrough"),
      "hyperv.evmcs": noEnlightenment("evmcs"),
      "hyperv.frequencies": noEnlightenment("frequencies"),
      "hyperv.ipi": noEnlightenment("ipi"),
      "hyperv.reenlightenment": noEnlightenment("reenlightenment"),
      "hyperv.relaxed": noEnlightenment("relaxed"),
      "hyperv.reset": noEnlightenment("reset"),
      "hyperv.runtime": noEnlightenment("runtime"),
      "hyperv.synic": noEnlightenment("synic"),
      "hyperv.synictimer": noEnlightenment("synictimer"),
      "hyperv.tlbflush": noEnlightenment("tlbflush"),
      "hyperv.vapic": noEnlightenment("vapic"),
      "hyperv.vpindex": noEnlightenment("vpindex"),
    },
    "mshv/amd64": {
      "cpu.host-model": wrongModel("host-model"),
      "cpu.host-passthrough": wrongModel("host-passthrough"),
    },
  },
});
