import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validateDomain, writeDomain } from "@polyvirt/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convertSample, samples } from "../testing/samples.ts";

const schema = "/usr/share/libvirt/schemas/domain.rng";

/** libvirt's own schema, as installed, must agree with our validation about every sample. */
describe.skipIf(!existsSync(schema) || !existsSync("/usr/bin/xmllint"))("libvirt's schema", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "domains-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("accepts what we make", async () => {
    const files: string[] = [];
    for (const [index, sample] of samples.entries()) {
      const { domain } = convertSample(sample, (file) => readFileSync(file, "utf8"));
      // The installed libvirt may be older than what some samples use; our validation knows which.
      if (validateDomain(domain, { libvirt: "9.0.0" }).length > 0) continue;
      const file = join(folder, `${index}-${sample.file}.xml`);
      await writeFile(file, writeDomain(domain));
      files.push(file);
    }
    expect(files.length).toBeGreaterThan(15);
    expect(() =>
      execFileSync("/usr/bin/xmllint", ["--noout", "--relaxng", schema, ...files], { stdio: "pipe" }),
    ).not.toThrow();
  });
});
