import { describe, expect, it } from "vitest";
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "./names.ts";

const long = (length: number) => "a".repeat(length);

describe.each([
  ["checkDnsLabel", checkDnsLabel, ["a", "my-name", "123", long(63)], ["", "-a", "a-", "A", "a.b", "a_b", long(64)]],
  [
    "checkDnsSubdomain",
    checkDnsSubdomain,
    ["a", "a.b-c.d", "1.2", long(253)],
    ["", ".a", "a.", "a..b", "a.-b", "A", long(254)],
  ],
  [
    "checkQualifiedName",
    checkQualifiedName,
    ["a", "My_Name", "kubevirt.io/nodeName", "example.com/a.b", long(63)],
    ["", "/a", "a/", "a/b/c", "-a", "a_", "UP.com/a", long(64), "a b"],
  ],
  ["checkLabelValue", checkLabelValue, ["", "a", "My_Value.1", long(63)], ["-a", "a.", "a b", "ä", long(64)]],
] as const)("%s", (_name, check, good, bad) => {
  it.each(good)("accepts %j", (text) => expect(check(text)).toEqual([]));
  it.each(bad)("refuses %j", (text) => expect(check(text)).not.toEqual([]));
});
