import type { Iommu } from "./definition-types.ts";
import { deviceId, placement } from "./device.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** What translates the addresses that devices use. It must be there before they are. */
export function addIommus(domain: DomainSection, plan: MachinePlan): void {
  const [iommu, ...others] = domain.requireChild("devices").children("iommus");
  if (iommu === undefined) return;
  if (others[0] !== undefined) throw others[0].refuse("model", "a machine has one IOMMU");
  const { name, pciBus } = plan.architecture;
  const q35 = name === "x86_64" && pciBus === "pcie.0";
  const model = iommu.oneOf("model", ["intel", "smmuv3", "virtio"]);
  switch (model) {
    case "intel":
      if (!q35) throw iommu.refuse("model", "only q35 machines have it");
      return addIntel(iommu, plan);
    case "smmuv3":
      if (name !== "aarch64") throw iommu.refuse("model", "only aarch64 machines have it");
      iommu.skip("alias");
      return plan.setMachine({ iommu: "smmuv3" });
    case "virtio":
      if (!q35 && name !== "aarch64") throw iommu.refuse("model", "only q35 and aarch64 machines have it");
      return plan.addDevice("virtio-iommu", { id: deviceId(iommu, "iommu0", plan), ...placement(iommu, plan) });
    case undefined:
      throw iommu.refuse("model", "it must be given");
  }
}

function addIntel(iommu: Section<Iommu>, plan: MachinePlan): void {
  const options = iommu.child("driver");
  const remap = options?.toggle("intremap");
  // Remapped interrupts need a controller that QEMU can look into.
  if (remap === true) plan.setMachine({ "kernel-irqchip": "split" });
  plan.addDevice("intel-iommu", {
    id: deviceId(iommu, "iommu0", plan),
    intremap: onOff(remap),
    "caching-mode": options?.toggle("cachingMode"),
    eim: onOff(options?.toggle("eim")),
    "device-iotlb": options?.toggle("iotlb"),
    "aw-bits": options?.number("awBits"),
    "dma-translation": options?.toggle("dmaTranslation"),
  });
}

/** For properties that may also be `auto` and are text therefore. */
function onOff(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : value ? "on" : "off";
}
