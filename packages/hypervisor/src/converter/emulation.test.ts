import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { converterContext, instance } from "../testing/fixtures.ts";
import type { ConverterContext } from "./context.ts";

interface Row {
  readonly gate: boolean;
  readonly useEmulation: boolean;
  readonly host: "amd64" | "arm64";
  readonly guest: "amd64" | "arm64" | "s390x";
  readonly device: boolean;
}

function convert(
  { gate, useEmulation, host, guest, device }: Row,
  change: Partial<ConverterContext["host"]> = {},
  hypervisor = "kvm",
) {
  const vmi = instance({}, { architecture: guest });
  const base = converterContext(vmi);
  return registry.get(hypervisor).converter.convert(vmi, {
    ...base,
    host: { ...base.host, architecture: host, hypervisorDeviceAvailable: device, ...change },
    emulation: { allowed: useEmulation, crossArchitectureAllowed: gate },
  });
}

const crossRefused =
  "Cross-architecture emulation not enabled. Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration.";

describe("feature gate and useEmulation", () => {
  const amd64 = { host: "amd64", guest: "amd64" } as const;
  const arm64 = { host: "amd64", guest: "arm64" } as const;

  it("gate off, emulation on, same architecture: same-architecture emulation", () => {
    expect(convert({ gate: false, useEmulation: true, device: false, ...amd64 }).type).toBe("qemu");
  });

  it("gate off, emulation on, other architecture: error", () => {
    expect(() => convert({ gate: false, useEmulation: true, device: false, ...arm64 })).toThrow(crossRefused);
  });

  it("gate on, emulation off, other architecture: error", () => {
    expect(() => convert({ gate: true, useEmulation: false, device: true, ...arm64 })).toThrow(
      "kvm not present or cross-arch requested, but emulation not allowed",
    );
  });

  it("gate on, emulation on, other architecture: emulation across architectures, with the emulator named", () => {
    const domain = convert({ gate: true, useEmulation: true, device: true, ...arm64 });
    expect(domain.type).toBe("qemu");
    expect(domain.devices?.emulator).toBe("/usr/bin/qemu-system-aarch64");
  });

  it("gate on, emulation on, same architecture: emulated only when the device is missing", () => {
    expect(convert({ gate: true, useEmulation: true, device: false, ...amd64 }).type).toBe("qemu");
    const accelerated = convert({ gate: true, useEmulation: true, device: true, ...amd64 });
    expect(accelerated.type).toBe("kvm");
    expect(accelerated.devices?.emulator).toBeUndefined();
  });

  it("emulation off, device missing: error", () => {
    expect(() => convert({ gate: false, useEmulation: false, device: false, ...amd64 })).toThrow("kvm not present");
    expect(() => convert({ gate: false, useEmulation: false, device: false, ...amd64 }, {}, "mshv")).toThrow(
      "mshv not present",
    );
  });

  it("names the binary that the node lacks", () => {
    const missing = { hasExecutable: (path: string) => path !== "/usr/bin/qemu-system-aarch64" };
    expect(() => convert({ gate: true, useEmulation: true, device: true, ...arm64 }, missing)).toThrow(
      "Required emulator binary /usr/bin/qemu-system-aarch64 not found on node",
    );
  });
});

describe("emulated machines", () => {
  const base = { gate: true, useEmulation: true, device: true } as const;

  it.each([
    { host: "amd64", guest: "arm64", emulator: "/usr/bin/qemu-system-aarch64" },
    { host: "arm64", guest: "amd64", emulator: "/usr/bin/qemu-system-x86_64" },
    { host: "amd64", guest: "s390x", emulator: "/usr/bin/qemu-system-s390x" },
  ] as const)("$guest on $host uses $emulator", ({ host, guest, emulator }) => {
    expect(convert({ ...base, host, guest }).devices?.emulator).toBe(emulator);
  });

  it("look like their own architecture, not like the host's", () => {
    const domain = convert({ ...base, host: "amd64", guest: "s390x" });
    expect(domain.os?.type).toMatchObject({ arch: "s390x" });
    expect(domain.devices?.memballoon?.model).toBe("virtio");
  });

  it("get the largest CPU instead of the host's", () => {
    const foreign = convert({ ...base, host: "amd64", guest: "arm64" });
    expect(foreign.cpu?.mode).toBe("maximum");
    // Said to QEMU itself: older libvirt has no name for the feature.
    expect(foreign.qemuCommandline?.args).toEqual([{ value: "-global" }, { value: "max-arm-cpu.pauth=off" }]);
    expect(convert({ ...base, host: "amd64", guest: "amd64", device: false }).cpu?.mode).toBe("maximum");
  });

  it("have the type of their hypervisor where its device is there", () => {
    expect(convert({ ...base, host: "amd64", guest: "amd64" }, {}, "mshv").type).toBe("hyperv");
  });
});
