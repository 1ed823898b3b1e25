import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validateDomain, writeDomain, type Domain } from "@polyvirt/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeAll } from "../testing/field-coverage.ts";
import { convertSample, samples } from "../testing/samples.ts";

const schema = "/usr/share/libvirt/schemas/domain.rng";

/** libvirt's own schema, as installed, must agree with our validation about every machine that we make. */
describe.skipIf(!existsSync(schema) || !existsSync("/usr/bin/xmllint"))("libvirt's schema", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "domains-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Files that the schema refuses, and those that our validation refuses for the same libvirt. */
  async function compare(machines: readonly { name: string; domain: Domain }[]) {
    const files: string[] = [];
    const ours: string[] = [];
    for (const [index, { name, domain }] of machines.entries()) {
      const file = `${index}-${name.replaceAll(/[^A-Za-z0-9]+/g, "-")}.xml`;
      await writeFile(join(folder, file), writeDomain(domain));
      files.push(file);
      if (validateDomain(domain, { libvirt: "9.0.0" }).length > 0) ours.push(file);
    }
    const { stderr } = spawnSync("/usr/bin/xmllint", ["--noout", "--relaxng", schema, ...files], {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    const verdicts = [...stderr.matchAll(/^(\S+) (validates|fails to validate)$/gm)];
    expect(verdicts).toHaveLength(files.length);
    const schemas = verdicts.filter(([, , verdict]) => verdict !== "validates").map(([, file]) => file);
    return { ours, schemas, accepted: files.length - schemas.length };
  }

  it("agrees about our samples", async () => {
    const { ours, schemas, accepted } = await compare(
      samples.map((sample) => ({
        name: `${sample.file}-${sample.platform}`,
        domain: convertSample(sample, (file) => readFileSync(file, "utf8")).domain,
      })),
    );
    expect(schemas).toEqual(ours);
    expect(accepted).toBeGreaterThan(15);
  });

  it("agrees about machines with every field, on every platform", async () => {
    const machines = judgeAll().flatMap(({ sample, verdicts }) =>
      [...verdicts].flatMap(([platform, verdict]) =>
        verdict.kind === "honoured" ? [{ name: `${platform}-${sample.path}`, domain: verdict.domain }] : [],
      ),
    );
    const { ours, schemas, accepted } = await compare(machines);
    expect(schemas).toEqual(ours);
    expect(accepted).toBeGreaterThan(500);
  });
});
