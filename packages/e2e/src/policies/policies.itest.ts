import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbedded } from "../conformance/targets/embedded.ts";
import type { Target } from "../conformance/targets/target.ts";
import { askCases } from "./ask-cases.ts";
import { tally, unexpected, type Answers } from "./compare-answers.ts";
import { digests, readRecord, recordedSeed } from "./compare-policies.ts";
import { policyCases } from "./policy-cases.ts";

// `npm run test:conformance -- policies` asks a real kube-apiserver the same and writes down its answers.
describe("policies and rules on the embedded API server", () => {
  const cases = policyCases(recordedSeed);
  let target: Target;
  let answers: Answers;
  beforeAll(async () => {
    target = await startEmbedded();
    answers = await askCases(target, cases);
  }, 240_000);
  afterAll(() => target.stop());

  it("are judged as a real kube-apiserver judged them", async () => {
    const recorded = await readRecord();
    const ours = digests(answers);
    const different = Object.keys({ ...recorded, ...ours }).filter((id) => recorded[id] !== ours[id]);
    expect(different.flatMap((id) => [id, ...(answers.get(id) ?? [])])).toEqual([]);
    expect(Object.keys(recorded).length).toBeGreaterThanOrEqual(400);
  });

  it("of the plug-in proposal do what its document says", () => {
    expect(unexpected(cases, answers)).toEqual([]);
  });

  it("are of every sort", () => {
    const { allowed, refused, warned } = tally(answers);
    expect(allowed).toBeGreaterThan(1000);
    expect(refused).toBeGreaterThan(400);
    expect(warned).toBeGreaterThan(50);
  });
});
