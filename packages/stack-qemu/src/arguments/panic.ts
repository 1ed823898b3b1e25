import { deviceId, placement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";

const defaultModels = { x86_64: "isa", aarch64: "pvpanic", s390x: "s390" } as const;

/** Devices by which a guest reports that its kernel has panicked. */
export function addPanics(domain: DomainSection, plan: MachinePlan): void {
  for (const [index, panic] of domain.requireChild("devices").children("panics").entries()) {
    const { name } = plan.architecture;
    const model = panic.oneOf("model", ["isa", "pvpanic", "hyperv", "s390"]) ?? defaultModels[name];
    if ((model === "s390") !== (name === "s390x") || (model !== "pvpanic" && model !== "s390" && name !== "x86_64")) {
      throw panic.refuse("model", `${name} machines do not have it; use ${defaultModels[name]}`);
    }
    if (model === "hyperv") {
      if (plan.virtType === "qemu") throw panic.refuse("model", "software emulation has no enlightenments");
      plan.setCpu(undefined, { "hv-crash": true });
    } else if (model === "isa") {
      const address = panic.child("address");
      address?.oneOf("type", ["isa"]);
      plan.addDevice("pvpanic", { id: deviceId(panic, `panic${index}`, plan), ioport: address?.number("iobase") });
    } else if (model === "pvpanic") {
      plan.addDevice("pvpanic-pci", { id: deviceId(panic, `panic${index}`, plan), ...placement(panic, plan) });
    }
    // s390x reports a panic by its own instruction; there is no device.
  }
}
