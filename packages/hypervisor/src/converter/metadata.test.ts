import { readDomain, writeDomain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { registry } from "../builtin.ts";
import { clusterConfig, converterContext, instance, testUuid } from "../testing/fixtures.ts";

describe("metadata of a domain", () => {
  it("tells what its VMI is, and survives the way through XML", () => {
    const { defaults, converter } = registry.get("kvm");
    const vmi = defaults.applyToInstance(instance({}, { terminationGracePeriodSeconds: 5 }), {
      config: clusterConfig(),
      randomUuid: () => testUuid,
    });
    const domain = converter.convert(vmi, converterContext(vmi));
    expect(writeDomain(domain)).toContain(`  <metadata>
    <kubevirt xmlns='http://kubevirt.io'>
      <uid>11111111-2222-3333-4444-555555555555</uid>
      <graceperiod>
        <deletionGracePeriodSeconds>5</deletionGracePeriodSeconds>
      </graceperiod>
    </kubevirt>
  </metadata>`);
    expect(readDomain(writeDomain(domain)).metadata).toEqual(domain.metadata);
  });
});
