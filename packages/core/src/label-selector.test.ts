import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatLabelSelector,
  matchesLabelSelector,
  matchesRequirements,
  parseLabelSelector,
  type SelectorRequirement,
} from "./label-selector.ts";

const labels = { app: "web", tier: "a", "kubevirt.io/schedulable": "true", empty: "", n: "5" };

describe("parseLabelSelector and matchesRequirements", () => {
  it.each([
    ["", true],
    ["app=web", true],
    ["app==web", true],
    ["app = web , tier in (a, b)", true],
    ["app!=web", false],
    ["missing!=x", true],
    ["tier notin (a,b)", false],
    ["missing notin (a)", true],
    ["app", true],
    ["!app", false],
    ["!missing", true],
    ["empty=", true],
    ["empty in (,x)", true],
    ["app=", false],
    ["kubevirt.io/schedulable=true,app", true],
    ["n>4", true],
    ["n>5", false],
    ["n<6", true],
    ["app>1", false],
    ["app=web,tier=b", false],
  ])("%s → %s", (text, expected) => expect(matchesRequirements(parseLabelSelector(text), labels)).toBe(expected));

  it.each(["=a", "a in b", "a in (b", "a,,b", "a,", ",a", "a=b c", "!", "a b", "a=b=c", "-a", "a=@", "a/b/c", "n>x"])(
    "refuses %j",
    (text) => expect(() => parseLabelSelector(text)).toThrow(/^read label selector/),
  );

  it("reads what formatLabelSelector writes", () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,5}$/).filter((text) => text !== "in" && text !== "notin");
    const requirement: fc.Arbitrary<SelectorRequirement> = fc.oneof(
      fc.record({ key: name, operator: fc.constantFrom("In", "NotIn"), values: fc.array(name, { minLength: 1 }) }),
      fc.record({ key: name, operator: fc.constantFrom("Exists", "DoesNotExist"), values: fc.constant([]) }),
    );
    fc.assert(
      fc.property(fc.array(requirement), (requirements) => {
        expect(parseLabelSelector(formatLabelSelector(requirements))).toEqual(requirements);
      }),
    );
  });
});

describe("matchesLabelSelector", () => {
  it("takes matchLabels and matchExpressions together", () => {
    const selector = {
      matchLabels: { app: "web" },
      matchExpressions: [{ key: "tier", operator: "In", values: ["a"] }],
    };
    expect(matchesLabelSelector(selector, labels)).toBe(true);
    expect(matchesLabelSelector(selector, { app: "web" })).toBe(false);
  });

  it("selects everything when empty and nothing when missing", () => {
    expect(matchesLabelSelector({}, labels)).toBe(true);
    expect(matchesLabelSelector(undefined, labels)).toBe(false);
  });

  it("does not find inherited properties", () => {
    expect(matchesLabelSelector({ matchExpressions: [{ key: "toString", operator: "Exists" }] }, {})).toBe(false);
  });

  it("refuses an unknown operator", () => {
    expect(() => matchesLabelSelector({ matchExpressions: [{ key: "a", operator: "Like" }] }, {})).toThrow(/"Like"/);
  });
});
