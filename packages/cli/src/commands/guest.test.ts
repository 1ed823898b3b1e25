import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { guest } from "./guest.ts";

const run = (...args: string[]) =>
  guest.run(args, {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: { KUBECONFIG: "/nonexistent/kubeconfig" },
    bundleDir: "/nonexistent",
    version: "0.0.0",
  });

describe("polyvirt guest", () => {
  it.each([
    ["no action", [], "say what to do: info, users"],
    ["an unknown action", ["toString", "web"], "say what to do"],
    ["no guest", ["info"], "name one VirtualMachineInstance"],
    ["two guests", ["info", "web", "db"], "name one VirtualMachineInstance"],
    ["an unknown option", ["info", "web", "--force"], "read the command line"],
  ])("refuses %s", async (_what, args, message) => {
    await expect(run(...args)).rejects.toThrow(message);
  });

  it("explains every action", () => {
    for (const word of guest.completions ?? []) expect(guest.usage).toContain(word);
  });
});
