import { describe, expect, it } from "vitest";
import { type Case, causes, causeOf } from "../testing/validation.ts";

describe("mshv", () => {
  const reason = "FieldValueNotSupported";
  const hypervisor = "mshv";
  it.each<Case>([
    {
      hypervisor,
      domain: { cpu: { model: "host-model" } },
      reason,
      field: "spec.domain.cpu.model",
      message: "CPU model 'host-model' is not supported by hypervisor mshv on amd64 (allowed values: [qemu64-v1])",
    },
    {
      hypervisor,
      domain: { cpu: { model: "Haswell" } },
      reason,
      field: "spec.domain.cpu.model",
      message: "CPU model 'Haswell' is not supported by hypervisor mshv on amd64 (allowed values: [qemu64-v1])",
    },
    {
      hypervisor,
      domain: { launchSecurity: { sev: {} } },
      reason,
      field: "spec.domain.launchSecurity.sev",
      message: "AMD SEV needs hypervisor kvm and is not supported by mshv",
    },
    {
      hypervisor,
      domain: { features: { hyperv: { relaxed: {} } } },
      reason,
      field: "spec.domain.features.hyperv.relaxed",
      message: "Hyper-V enlightenment relaxed is not supported by hypervisor mshv",
    },
    {
      hypervisor,
      domain: { features: { kvm: { hidden: true } } },
      reason,
      field: "spec.domain.features.kvm",
      message: "hiding the KVM signature needs hypervisor kvm and is not supported by mshv",
    },
    {
      hypervisor,
      spec: { architecture: "s390x" },
      reason,
      field: "spec.architecture",
      message:
        "hypervisor mshv does not run s390x guests (allowed values: [amd64 arm64]). Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration to emulate them.",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });

  it("accepts what it can run", () => {
    expect(
      causes({ hypervisor, domain: { cpu: { model: "qemu64-v1" }, features: { hyperv: { spinlocks: {} } } } }),
    ).toEqual([]);
    const emulating = {
      developerConfiguration: { useEmulation: true, featureGates: ["CrossArchitectureVirtualization"] },
    };
    expect(causes({ hypervisor, spec: { architecture: "s390x" }, configuration: emulating })).toEqual([]);
  });
});
