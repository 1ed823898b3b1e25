/**
 * Asks Kubernetes' own validators about every rule and policy of src/conformance/policy-questions.ts and writes the answers
 * to testdata/policy-answers.json. Needs Go and its module proxy: `npx tsx packages/cel/generate/policy-answers.ts`.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { policyQuestions, ruleQuestions } from "../src/conformance/policy-questions.ts";

function ask(questions: readonly object[]): string {
  const run = spawnSync("go", ["run", "."], {
    cwd: new URL("../testdata/oracle/", import.meta.url),
    input: `${questions.map((question) => JSON.stringify(question)).join("\n")}\n`,
    maxBuffer: 1 << 28,
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(`the oracle failed: ${run.stderr}`);
  return run.stdout.trim().replaceAll("\n", ",\n    ");
}

const rules = ask(ruleQuestions);
const policies = ask(policyQuestions);
const file = new URL("../testdata/policy-answers.json", import.meta.url);
writeFileSync(file, `{\n  "rules": [\n    ${rules}\n  ],\n  "policies": [\n    ${policies}\n  ]\n}\n`);
