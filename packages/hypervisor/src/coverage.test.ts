import { existsSync, readFileSync } from "node:fs";
import { validateDomain } from "@polyvirt/domain";
import { describe, expect, it } from "vitest";
import { isElsewhere, judgeAll, machineFields, samplePattern, summarize } from "./testing/field-coverage.ts";
import { platforms } from "./testing/field-cases.ts";
import { machineSamples } from "./testing/field-samples.ts";

const openapi: unknown = JSON.parse(readFileSync(new URL("../../api/src/gen/openapi.json", import.meta.url), "utf8"));
const judged = judgeAll();
const sampled = new Set(machineSamples.map(samplePattern));

describe("machine fields of a VMI", { timeout: 60_000 }, () => {
  it("each has a sample, or is somebody else's", () => {
    const fields = machineFields(openapi);
    expect(fields.length).toBeGreaterThan(150);
    expect(fields.filter((field) => !sampled.has(field))).toEqual([]);
  });

  it("no sample is about a field that the API does not have", () => {
    const fields = new Set(machineFields(openapi));
    expect([...sampled].filter((field) => !fields.has(field))).toEqual([]);
  });

  it.each(platforms)("are honoured or refused on %s, never ignored", (platform) => {
    const ignored = judged.filter(({ verdicts }) => verdicts.get(platform)?.kind === "ignored");
    expect(ignored.map(({ sample }) => sample.path)).toEqual([]);
  });

  it("make machines that libvirt's schema accepts", () => {
    const faults = judged.flatMap(({ sample, verdicts }) =>
      [...verdicts].flatMap(([platform, verdict]) =>
        verdict.kind === "honoured"
          ? validateDomain(verdict.domain).map((fault) => ({ field: sample.path, platform, fault }))
          : [],
      ),
    );
    expect(faults).toEqual([]);
  });

  it("what becomes of each, in which words, is what it always was", async () => {
    // A wanted change is taken over with `npm run golden`; the diff of the file is then the review.
    await expect(summarize(judged)).toMatchFileSnapshot("./testdata/fields.txt");
  });
});

const published = new URL("../../../../shared/reference/vmi-spec-leaves.txt", import.meta.url);

describe.skipIf(!existsSync(published))("the published list of a VMI's fields", () => {
  it("has none that is neither sampled nor somebody else's", () => {
    const fields = [...readFileSync(published, "utf8").matchAll(/^spec\.(\S+) /gm)].map(([, field = ""]) => field);
    expect(fields).toHaveLength(370);
    const known = new Set([...sampled].map((field) => field.replaceAll(/\[\]|\{\}/g, "")));
    const missing = fields.filter((field) => !isElsewhere(field) && !known.has(field.replaceAll(/\[\]|\{\}/g, "")));
    expect(missing).toEqual([]);
  });
});
