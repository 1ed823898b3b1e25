import type { Controller } from "./definition-types.ts";
import { deviceId, placement } from "./device.ts";
import type { DeviceProperties, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";
import { sizeInBytes } from "./size.ts";

type ControllerSection = Section<Controller>;
type Target = Section<NonNullable<Controller["target"]>>;

interface Bridge {
  /** QEMU's devices for it, the usual one first. */
  readonly drivers: readonly string[];
  /** What the definition says about its place and number, in QEMU's terms. */
  properties(target: Target | undefined, index: number): DeviceProperties;
}

const port: Bridge["properties"] = (target, index) => ({
  chassis: target?.number("chassis") ?? index,
  port: target?.number("port") ?? index,
  hotplug: target?.toggle("hotplug"),
});
const none = (): DeviceProperties => ({});
const expander: Bridge["properties"] = (target) => ({
  bus_nr: target?.number("busNr"),
  numa_node: target?.number("node"),
});

/** Everything that makes another PCI bus. */
const bridges: Readonly<Record<string, Bridge>> = {
  "pcie-root-port": { drivers: ["pcie-root-port", "ioh3420"], properties: port },
  "pcie-to-pci-bridge": { drivers: ["pcie-pci-bridge"], properties: none },
  "pci-bridge": {
    drivers: ["pci-bridge"],
    properties: (target, index) => ({
      chassis_nr: target?.number("chassisNr") ?? index,
      shpc: target?.toggle("hotplug"),
    }),
  },
  "dmi-to-pci-bridge": { drivers: ["i82801b11-bridge"], properties: none },
  "pcie-switch-upstream-port": { drivers: ["x3130-upstream"], properties: none },
  "pcie-switch-downstream-port": { drivers: ["xio3130-downstream"], properties: port },
  "pci-expander-bus": { drivers: ["pxb"], properties: expander },
  "pcie-expander-bus": { drivers: ["pxb-pcie"], properties: expander },
};

const roots = ["pcie-root", "pci-root"] as const;

/** Names the bus before any device is made, because an address may name a controller that comes later. */
export function namePciBus(controller: ControllerSection, index: number, plan: MachinePlan): void {
  const model = controller.text("model");
  if (index === 0 || model === "pcie-root" || model === "pci-root") return;
  plan.nameBus("pci", index, controller.child("alias")?.text("name") ?? `pci.${index}`);
}

export function addPciController(controller: ControllerSection, index: number, plan: MachinePlan): void {
  const model = controller.oneOf("model", [...roots, ...Object.keys(bridges)]) ?? "pci-root";
  const bridge = bridges[model];
  if (bridge === undefined) return addRoot(controller, model, index, plan);
  if (plan.architecture.pciBus === undefined) {
    throw controller.refuse("model", `PCI devices are not supported in ${plan.architecture.name} machines; use ccw`);
  }
  if (index === 0) throw controller.refuse("index", "0 is the machine's own bus; another controller has another index");
  const given = controller.child("modelInfo")?.oneOf("name", bridge.drivers);
  const id = deviceId(controller, `pci.${index}`, plan);
  const properties = bridge.properties(controller.child("target"), index);
  plan.addDevice(given ?? bridge.drivers[0] ?? model, { id, ...properties, ...placement(controller, plan) });
}

/** The machine has it; only the size of its window can be chosen. */
function addRoot(controller: ControllerSection, model: string, index: number, plan: MachinePlan): void {
  const { pciBus, name } = plan.architecture;
  if (index !== 0) throw controller.refuse("index", "the machine has one root, and its index is 0");
  if (controller.has("model") && model !== (pciBus === "pcie.0" ? "pcie-root" : "pci-root")) {
    throw controller.refuse("model", `the root of the machine ${plan.architecture.machineType} is of the other kind`);
  }
  const hole = controller.child("pcihole64");
  if (hole !== undefined) {
    if (name !== "x86_64") throw controller.refuse("pcihole64", "only x86_64 machines have this window");
    const host = pciBus === "pcie.0" ? "q35-pcihost" : "i440FX-pcihost";
    plan.addOption("-global", `${host}.pci-hole64-size=${Math.ceil(sizeInBytes(hole) / 1024)}K`);
  }
  // It has a name of the machine's own.
  controller.skip("alias");
}
