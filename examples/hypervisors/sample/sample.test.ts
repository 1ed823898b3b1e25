import type { VirtualMachineInstance } from "@polyvirt/api";
import {
  loadHypervisor,
  registry,
  resolveClusterConfig,
  type ConverterContext,
  type Hypervisor,
  type HypervisorModule,
} from "@polyvirt/hypervisor";
import { validateDomain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import sample from "./sample.ts";

const config = resolveClusterConfig(
  { hypervisors: [{ name: "sample" }], developerConfiguration: { featureGates: ["ConfigurableHypervisor"] } },
  { hostArchitecture: "amd64" },
);

const vmi: VirtualMachineInstance = {
  metadata: { name: "web", namespace: "default" },
  spec: { domain: { devices: {}, memory: { guest: "128Mi" } } },
};

const context: ConverterContext = {
  host: { architecture: "amd64", hypervisorDeviceAvailable: true, hasExecutable: () => true },
  emulation: { allowed: false, crossArchitectureAllowed: false },
  paths: {
    serialConsole: "/run/serial",
    serialConsoleLog: "/run/log",
    vnc: "/run/vnc",
    guestAgent: "/run/agent",
    usbRedirection: "/run/usb",
  },
  volumes: {},
  network: { podNetwork: "user", interfaces: {} },
  firmware: {},
  hostDevices: {},
  virtiofsSockets: {},
  settings: { ...config, bochsDisplayForEfiGuests: true },
};

/** The way a role does it: load the module, register it, and select what the cluster is configured for. */
async function selected() {
  const known = registry.with(await loadHypervisor("./sample.ts", (specifier) => import(specifier)));
  return known.select(config.hypervisor);
}

describe("an out-of-tree hypervisor", () => {
  it("is found, selected, validates and converts a VMI", async () => {
    const hypervisor = await selected();
    const complete = hypervisor.defaults.applyToInstance(vmi, {
      config,
      randomUuid: () => "5d307ca9-b3ef-428c-8861-06e72d69f223",
    });
    expect(complete.spec.domain.cpu?.model).toBe("qemu64");
    expect(hypervisor.validator.validateVirtualMachineInstanceSpec("spec", complete.spec, config)).toEqual([]);
    const domain = hypervisor.converter.convert(complete, context);
    expect(domain).toMatchObject({
      type: "kvm",
      title: "runs on sample",
      devices: { serials: [{ target: { type: "pci-serial" } }] },
    });
    expect(validateDomain(domain)).toEqual([]);
    expect(hypervisor.resources.deviceRequests(complete, config)[0]?.resourceName).toBe("devices.kubevirt.io/sample");
  });

  it("refuses what it cannot run, in its own words and the base's", async () => {
    const { validator } = await selected();
    const domain = { devices: {}, cpu: { cores: 1, threads: 2 }, launchSecurity: { sev: {} } };
    const causes = validator.validateVirtualMachineInstanceSpec("spec", { domain }, config);
    expect(causes.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        "hypervisor sample runs one thread per core, but spec.domain.cpu.threads is 2",
        "AMD SEV is not supported by hypervisor sample",
        "SEV requires OVMF (UEFI)",
      ]),
    );
  });

  it("is refused itself when it does not fulfil the contract", async () => {
    await expect(loadHypervisor("broken", async () => ({ default: () => ({ name: "broken" }) }))).rejects.toThrow(
      "load hypervisor from broken: hypervisor broken lacks validator, defaults",
    );
    const almost: HypervisorModule = (toolkit) => {
      const whole = sample(toolkit);
      // A module from outside can get anything wrong; this one forgets a function and an architecture.
      const resources = { getMemoryOverhead: () => ({ bytes: 0, terms: [] }) } as unknown as Hypervisor["resources"];
      return { ...whole, resources, node: { ...whole.node, architectures: [] } };
    };
    await expect(loadHypervisor("almost", async () => ({ default: almost }))).rejects.toThrow(
      "hypervisor sample lacks resources.deviceRequests(), node.architectures",
    );
    await expect(loadHypervisor("gone", () => Promise.reject(new Error("no file")))).rejects.toThrow(
      "load hypervisor from gone: the module cannot be imported",
    );
    await expect(loadHypervisor("empty", async () => ({}))).rejects.toThrow("its default export must be a function");
  });
});
