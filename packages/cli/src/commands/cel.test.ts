import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { celCommand } from "./cel.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "cel-"));
  await writeFile(
    join(folder, "pod.yaml"),
    "spec:\n  containers:\n  - name: a\n    resources: {limits: {memory: 9Gi}}\n",
  );
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr"): Writable =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written[name] += chunk.toString();
        done();
      },
    });
  const context = {
    stdin: Readable.from([]),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: {},
    bundleDir: "",
    version: "0",
  };
  const code = await celCommand.run(args, context);
  return { code, ...written };
}

describe("polyvirt cel", () => {
  it("evaluates on an object", async () => {
    const expression = "object.spec.containers.exists(c, c.resources.limits['memory'] > 8Gi)";
    const result = await run("eval", expression, "--object", join(folder, "pod.yaml"));
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toMatch(/^result: {2}true\ntype: {4}bool\ncost: {4}\d+\n$/);
  });

  it("shows type, cost and strict form", async () => {
    expect((await run("check", "vmi.status.phase == 'Running'")).stdout).toBe(
      'type:    bool\ncost:    5 to 5 (estimated)\nstrict:  vmi.?status.?phase.orValue(null) == "Running"\n',
    );
  });

  it("prints strict CEL", async () => {
    expect((await run("strict", "version > 1.5")).stdout).toBe('version.isGreaterThan(semver("1.5.0"))\n');
  });

  it("points at mistakes and says what was probably meant", async () => {
    expect(await run("check", "objekt.spec == 1")).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "ERROR: <input>:1:1: undeclared reference to 'objekt' (in container ''), did you mean 'object'?\n | objekt.spec == 1\n | ^\n",
    });
    expect((await run("eval", "1 +")).stderr).toContain("\n | ...^");
  });

  it("points at what fails while running", async () => {
    const result = await run("eval", "1 + size(object.spec.missing)", "--object", join(folder, "pod.yaml"));
    expect(result.code).toBe(1);
    expect(result.stderr).toBe(
      "ERROR: <input>:1:10: no such key: missing\n | 1 + size(object.spec.missing)\n | .........^\n",
    );
  });

  it("takes versions and the strict dialect", async () => {
    expect((await run("eval", "version > 1.5", "--version", "v1.10")).stdout).toContain("result:  true");
    expect((await run("eval", "8Gi", "--dialect", "strict")).code).toBe(1);
  });

  it.each([
    [["eval"]],
    [["run", "1"]],
    [["eval", "1", "2"]],
    [["eval", "1", "--dialect", "loose"]],
    [["eval", "1", "--object", "/nowhere"]],
  ])("refuses %s", async (args) => {
    await expect(run(...args)).rejects.toMatchObject({ code: "CliUsage" });
  });
});
