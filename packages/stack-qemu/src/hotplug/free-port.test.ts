import { expect, it } from "vitest";
import { freePorts } from "./free-port.ts";

it("finds ports of the definition that nothing is plugged into", () => {
  const nic = { qdev_id: "ua-net" };
  const devices = [
    nic,
    { qdev_id: "pci.1", pci_bridge: { devices: [nic] } },
    { qdev_id: "pci.2", pci_bridge: { devices: [] } },
    { qdev_id: "pci.3", pci_bridge: {} },
    { qdev_id: "", pci_bridge: {} },
  ];
  expect(freePorts([{ devices }])).toEqual(["pci.2", "pci.3"]);
});
