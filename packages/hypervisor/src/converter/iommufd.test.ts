import { validateDomain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { clusterConfig, instance, testUuid } from "../testing/fixtures.ts";
import { planningContext } from "./planning-context.ts";

const { converter, defaults, resources } = registry.get("kvm");
const withDevice = instance({ devices: { hostDevices: [{ name: "h", deviceName: "vendor.com/h" }] } });

function convert(vmi: typeof withDevice, featureGates: string[]) {
  const config = clusterConfig({ developerConfiguration: { featureGates } });
  const complete = defaults.applyToInstance(vmi, { config, randomUuid: () => testUuid });
  const devices = resources.deviceRequests(complete, config).map(({ device }) => device);
  return { devices, domain: converter.convert(complete, planningContext(complete, { config })) };
}

describe("iommufd", () => {
  it("maps the memory of guests with host devices, behind its gate", () => {
    const { devices, domain } = convert(withDevice, ["IOMMUFD"]);
    expect(domain.iommufd).toEqual({ enabled: "yes", fdgroup: "iommu" });
    expect(validateDomain(domain)).toEqual([]);
    expect(devices).toContain("iommufd");
  });

  it.each([
    ["the gate is off", withDevice, []],
    ["the guest has no host device", instance(), ["IOMMUFD"]],
  ])("is not there when %s", (_, vmi, gates) => {
    const { devices, domain } = convert(vmi, gates);
    expect(domain.iommufd).toBeUndefined();
    expect(devices).not.toContain("iommufd");
  });
});
