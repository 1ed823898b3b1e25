import { describe, expect, it } from "vitest";
import { migrationFlags, parametersFor } from "./migration-parameters.ts";

describe("what the daemons are told about a migration", () => {
  it.each([
    ["nothing special", {}, { source: 1 | 512, target: 1 | 512 }],
    [
      "slowing the guest down, which is the source's affair",
      { allowAutoConverge: true },
      { source: 8705, target: 513 },
    ],
    ["post-copy, which concerns both", { allowPostCopy: true }, { source: 33_281, target: 33_281 }],
  ])("%s", (_, options, flags) => {
    expect(migrationFlags(options)).toEqual(flags);
  });

  it("names a socket at each end, and the definition that the step before gave", () => {
    const steps = parametersFor("vm", {});
    const told = (parameters: readonly { field: string; value: unknown }[]) =>
      Object.fromEntries(parameters.map(({ field, value }) => [field, value]));
    expect(told(steps.begin("<at-rest/>"))).toEqual({ destination_name: "vm", destination_xml: "<at-rest/>" });
    expect(told(steps.prepare("<begun/>", "/t/in"))).toMatchObject({
      destination_xml: "<begun/>",
      migrate_uri: "unix:///t/in",
    });
    expect(told(steps.perform("<begun/>", "/s/move"))).toMatchObject({ migrate_uri: "unix:///s/move" });
    expect(told(steps.finish())).toEqual({ destination_name: "vm" });
  });

  it.each([
    [undefined, false, {}],
    [0, true, {}],
    [1, false, { bandwidth: 1n }],
    [3 * 1024 * 1024 + 1, true, { bandwidth: 4n, "bandwidth.postcopy": 4n }],
  ])("limits %s bytes a second, with post-copy %s", (bandwidthBytesPerSecond, allowPostCopy, wanted) => {
    const options = { ...(bandwidthBytesPerSecond === undefined ? {} : { bandwidthBytesPerSecond }), allowPostCopy };
    const limits = parametersFor("vm", options)
      .perform("", "")
      .filter(({ field }) => field.startsWith("bandwidth"))
      .map(({ field, value }) => [field, value]);
    expect(Object.fromEntries(limits)).toEqual(wanted);
  });
});
