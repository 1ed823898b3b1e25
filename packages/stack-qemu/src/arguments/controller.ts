import type { Controller } from "./definition-types.ts";
import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

type ControllerSection = Section<Controller>;

/** What other devices need to know about the buses that controllers make. */
export interface Buses {
  readonly usb: string | undefined;
  readonly virtioSerial: string;
}

/** Controllers come before the devices on them. Those that a device needs and nobody named are added. */
export function addControllers(domain: DomainSection, plan: MachinePlan): Buses {
  const devices = domain.requireChild("devices");
  const controllers = devices.children("controllers");
  let usb: string | undefined;
  for (const controller of controllers) {
    const added = addController(controller, plan);
    if (added?.type === "usb") usb ??= `${added.id}.0`;
  }
  const has = (type: string) => controllers.some((controller) => controller.text("type") === type);
  const onScsi = devices.children("disks").some((disk) => disk.child("target")?.text("bus") === "scsi");
  if (onScsi && !has("scsi")) plan.addDevice(virtioDriver(plan, "scsi").driver, { id: "scsi0" });
  const ports = devices.children("channels").length > 0;
  if (ports && !has("virtio-serial")) plan.addDevice(virtioDriver(plan, "serial").driver, { id: "virtio-serial0" });
  // A machine whose definition says nothing about USB gets none.
  if (plan.architecture.name === "x86_64") plan.setMachine({ usb: false });
  return { usb, virtioSerial: "virtio-serial0.0" };
}

function addController(controller: ControllerSection, plan: MachinePlan): { type: string; id: string } | undefined {
  const index = controller.number("index") ?? 0;
  const type = controller.oneOf("type", ["usb", "scsi", "virtio-serial", "pci", "sata"]);
  switch (type) {
    case "usb": {
      if (controller.oneOf("model", ["qemu-xhci", "none"]) === "none") return undefined;
      const id = index === 0 ? "usb" : `usb${index}`;
      plan.addDevice("qemu-xhci", { id, ...placement(controller, plan) });
      controller.skip("alias", "ports");
      return { type, id };
    }
    case "scsi":
      return { type, id: addScsi(controller, index, plan) };
    case "virtio-serial": {
      const { driver, known } = virtioDriver(plan, "serial", controller.text("model"));
      if (!known) throw controller.refuse("model", "this model of a virtio-serial controller is not known");
      const id = `virtio-serial${index}`;
      controller.skip("alias");
      plan.addDevice(driver, {
        id,
        max_ports: controller.number("ports"),
        vectors: controller.number("vectors"),
        ...virtioProperties(controller.child("driver")),
        ...placement(controller, plan),
      });
      return { type, id };
    }
    case "pci":
      addPci(controller, index, plan);
      return undefined;
    case "sata":
      // q35 has it built in, with six ports.
      if (index > 0) throw controller.refuse("index", "only the SATA controller of the machine itself is there");
      controller.skip("model", "alias", "address");
      return undefined;
    case undefined:
      throw controller.refuse("type", "it must be given");
  }
}

function addScsi(controller: ControllerSection, index: number, plan: MachinePlan): string {
  const { driver, known } = virtioDriver(plan, "scsi", controller.text("model"));
  if (!known) throw controller.refuse("model", "only virtio models of a SCSI controller are known");
  // Disks name their bus by the controller's number, so the id is not the alias.
  controller.skip("alias");
  const options = controller.child("driver");
  const iothread = options?.number("iothread");
  plan.addDevice(driver, {
    id: `scsi${index}`,
    num_queues: options?.number("queues"),
    cmd_per_lun: options?.number("cmdPerLun"),
    max_sectors: options?.number("maxSectors"),
    ioeventfd: options?.toggle("ioeventfd"),
    iothread: iothread === undefined ? undefined : `iothread${iothread}`,
    ...virtioProperties(options),
    ...placement(controller, plan),
  });
  return `scsi${index}`;
}

function addPci(controller: ControllerSection, index: number, plan: MachinePlan): void {
  controller.skip("modelInfo");
  switch (controller.oneOf("model", ["pcie-root", "pci-root", "pcie-root-port", "pcie-to-pci-bridge"])) {
    case "pcie-root-port": {
      const target = controller.child("target");
      plan.addDevice("pcie-root-port", {
        id: deviceId(controller, `pci.${index}`, plan),
        chassis: target?.number("chassis") ?? index,
        port: target?.number("port") ?? index,
        hotplug: target?.toggle("hotplug"),
        ...placement(controller, plan),
      });
      return;
    }
    case "pcie-to-pci-bridge":
      plan.addDevice("pcie-pci-bridge", {
        id: deviceId(controller, `pci.${index}`, plan),
        ...placement(controller, plan),
      });
      return;
    case "pcie-root":
    case "pci-root":
    case undefined: {
      // The machine has it; only the size of its window can be chosen.
      const hole = controller.child("pcihole64");
      const size = hole?.number("value");
      hole?.skip("unit");
      if (size !== undefined && plan.architecture.name === "x86_64") {
        plan.addOption("-global", `q35-pcihost.pci-hole64-size=${size}K`);
      }
      controller.skip("alias");
    }
  }
}
