/**
 * A complete hypervisor out of tree. It is KVM with three differences, one for each thing that a hypervisor may change:
 * a default, a rule and a piece of the machine. Everything else comes from the base.
 */
import type { Configurator, DefaultsStep, HypervisorModule, ValidationRule } from "@polyvirt/hypervisor";

/** Its kernel driver offers no CPU models of its own, so guests get one that it can always present. */
const cpuModel: DefaultsStep = {
  name: "sample-cpu-model",
  set({ spec }) {
    // Defaults only fill what nobody has set.
    if (!spec.domain.cpu?.model) spec.domain.cpu = { ...spec.domain.cpu, model: "qemu64" };
  },
};

/** It schedules whole cores: threads that share one would see each other. */
const oneThreadPerCore: ValidationRule = {
  name: "sample-threads",
  check({ spec, field }, report) {
    const threads = spec.domain.cpu?.threads ?? 1;
    if (threads <= 1) return;
    report.notSupported(
      `${field}.domain.cpu.threads`,
      `hypervisor sample runs one thread per core, but ${field}.domain.cpu.threads is ${threads}`,
    );
  },
};

/** Its serial port is a virtual one on PCI; the name makes it take the place of the base's `console`. */
const serialConsole: Configurator = {
  name: "console",
  configure(domain, vmi, context) {
    if (vmi.spec.domain.devices.autoattachSerialConsole === false) return;
    domain.devices.serials = [
      {
        type: "unix",
        sources: [{ mode: "bind", path: context.paths.serialConsole }],
        target: { type: "pci-serial", port: "0", model: { name: "pci-serial" } },
      },
    ];
    domain.devices.consoles = [{ type: "pty", target: { type: "serial", port: "0" } }];
  },
};

/** A new name is added after the base's configurators. */
const label: Configurator = {
  name: "sample-label",
  configure(domain) {
    domain.title = "runs on sample";
  },
};

const sample: HypervisorModule = ({ defineHypervisor }) =>
  defineHypervisor({
    name: "sample",
    // What nodes must offer (/dev/sample, devices.kubevirt.io/sample) and what the domain's type is.
    node: { hypervisorDevice: "sample", virtType: "kvm", architectures: ["amd64"] },
    processes: { vmmPrefixes: ["qemu-system"], vcpuThreadWords: ["CPU ", "SAMPLE"] },
    defaults: { hypervisor: [cpuModel] },
    validation: { rules: [oneThreadPerCore] },
    capabilities: {
      sample: {
        "launch-security.sev": { level: "unsupported", message: "AMD SEV is not supported by hypervisor sample" },
      },
    },
    configurators: [serialConsole, label],
  });

export default sample;
