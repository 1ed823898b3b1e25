/**
 * VMIs from `testdata/` as libvirt would get them. A wanted change is taken over with
 * `npm run golden`; the diff of the XML files is then the review.
 */
import { readFileSync } from "node:fs";
import { validateDomain, writeDomain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { convertSample, samples } from "../testing/samples.ts";

describe.each(samples)("$file on $platform ($how)", (sample) => {
  const { domain, causes } = convertSample(sample, (file) => readFileSync(file, "utf8"));

  it("is valid", () => {
    expect(causes).toEqual([]);
  });

  it("becomes the machine that it always became", async () => {
    const name = `${sample.file}.${sample.platform.replace("/", "-")}${sample.how === "accelerated" ? "" : `-${sample.how}`}`;
    await expect(writeDomain(domain)).toMatchFileSnapshot(`../testdata/${name}.xml`);
  });

  it("follows libvirt's schema", () => {
    expect(validateDomain(domain)).toEqual([]);
  });
});
