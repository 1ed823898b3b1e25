import type { VirtualMachineInstance, Volume } from "@polyvirt/api";
import type { Domain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { disksAlone, planDisks, withoutAbsentVolumes } from "./hotplug-disks.ts";
import { planInterfaces } from "./hotplug-interfaces.ts";
import { withHotplugPorts } from "./hotplug-ports.ts";

const folder = "/hotplug";
const hot = (name: string): Volume => ({ name, persistentVolumeClaim: { claimName: name, hotpluggable: true } });

function guest(volumes: readonly Volume[], phases: Readonly<Record<string, string>> = {}): VirtualMachineInstance {
  return {
    metadata: { name: "vmi" },
    spec: {
      volumes: [...volumes],
      domain: { devices: { disks: volumes.map(({ name }) => ({ name, disk: { bus: "scsi" }, bootOrder: 1 })) } },
    },
    status: { volumeStatus: Object.entries(phases).map(([name, phase]) => ({ name, phase, target: "" })) },
  };
}

const machine = (files: Readonly<Record<string, string>>, type = "q35"): Domain => ({
  os: { type: { machine: type } },
  devices: {
    disks: Object.entries(files).map(([name, file], index) => ({
      alias: { name: `ua-${name}` },
      source: { file },
      target: { dev: `sd${"abc"[index]}` },
    })),
  },
});

describe("planDisks", () => {
  const root: Volume = { name: "root", containerDisk: { image: "x" } };
  it.each([
    ["attaches what is mounted", guest([root, hot("a")], { a: "MountedToPod" }), {}, ["a"], []],
    ["attaches again what a restart lost", guest([hot("a")], { a: "Ready" }), {}, ["a"], []],
    ["waits for what is not mounted", guest([hot("a")], { a: "AttachedToNode" }), {}, [], []],
    ["leaves what is there", guest([hot("a")], { a: "Ready" }), { a: "/hotplug/a.img" }, [], []],
    ["detaches what is not wanted", guest([root]), { root: "/x", a: "/hotplug/a.img" }, [], ["a"]],
    ["never detaches what was there from the start", guest([]), { root: "/x/disk.img" }, [], []],
    [
      "attaches no volume without a disk",
      { ...guest([hot("a")], { a: "Ready" }), spec: { volumes: [hot("a")], domain: { devices: {} } } },
      {},
      [],
      [],
    ],
  ])("%s", (_what, vmi, files, attach, detach) => {
    expect(planDisks(vmi, machine(files), folder)).toEqual({ attach, detach });
  });
});

it("a machine starts without the volumes that have not come", () => {
  const vmi = withoutAbsentVolumes(guest([hot("a"), hot("b")], { a: "MountedToPod", b: "AttachedToNode" }));
  expect(vmi.spec.volumes?.map(({ name }) => name)).toEqual(["a"]);
  expect(vmi.spec.domain.devices.disks?.map(({ name }) => name)).toEqual(["a"]);
});

it("new disks are converted beside those whose names the guest knows, and boot nothing", () => {
  const alone = disksAlone(guest([hot("a"), hot("b")]), machine({ a: "/hotplug/a.img" }));
  expect(alone.status?.volumeStatus).toEqual([{ name: "a", target: "sda" }]);
  expect(alone.spec.domain.devices.disks?.[1]).toEqual({ name: "b", disk: { bus: "scsi" } });
});

describe("planInterfaces", () => {
  const running: Domain = {
    devices: { interfaces: [{ alias: { name: "ua-a" } }, { alias: { name: "ua-b" }, link: { state: "down" } }] },
  };
  const wanting = (states: Readonly<Record<string, string>>): VirtualMachineInstance => {
    const interfaces = Object.entries(states).map(([name, state]) => ({ name, state }));
    return { metadata: {}, spec: { domain: { devices: { interfaces } } } };
  };
  it.each([
    [{ a: "up", b: "down" }, [], []],
    [{ a: "", b: "" }, [], [{ name: "b", up: true }]],
    [{ a: "down", b: "absent" }, ["b"], [{ name: "a", up: false }]],
    [{ gone: "absent", other: "up" }, [], []],
  ])("of %j", (states, detach, links) => {
    expect(planInterfaces(wanting(states), running)).toEqual({ detach, links });
  });
});

describe("withHotplugPorts", () => {
  const ports = (domain: Domain, vmi = guest([])) => withHotplugPorts(domain, vmi, 0).devices?.controllers?.length ?? 0;
  it("leaves room on machines where new devices need a port, unless nobody wants any", () => {
    expect(ports(machine({}, "q35"))).toBe(4);
    expect(ports(machine({}, "pc-q35-7.2"))).toBe(4);
    expect(ports(machine({}, "virt"))).toBe(4);
    expect(ports(machine({}, "s390-ccw-virtio"))).toBe(0);
    expect(withHotplugPorts(machine({}), guest([]), 3).devices?.controllers).toHaveLength(7);
    expect(ports(machine({}), { ...guest([]), spec: { domain: { devices: { disableHotplug: true } } } })).toBe(0);
    const taken: Domain = {
      ...machine({}),
      devices: { controllers: [{ type: "pci", index: 2, model: "pcie-root-port" }] },
    };
    expect(withHotplugPorts(taken, guest([]), 0).devices?.controllers?.[1]).toMatchObject({ index: 3 });
  });
});
