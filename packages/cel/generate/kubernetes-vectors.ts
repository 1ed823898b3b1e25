/**
 * Asks Kubernetes' own CEL again about every expression of testdata/kubernetes-vectors.json and rewrites the answers. Needs
 * Go and its module proxy: `npx tsx packages/cel/generate/kubernetes-vectors.ts`. To add an expression, add `{"expr": "…"}`.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

interface Vector {
  readonly expr: string;
  readonly types?: Readonly<Record<string, string>>;
}

const file = new URL("../testdata/kubernetes-vectors.json", import.meta.url);
const data = JSON.parse(readFileSync(file, "utf8")) as {
  kubernetes: string;
  variables: Record<string, unknown>;
  cases: Vector[];
};
const questions = data.cases.map(({ expr, types }) => {
  const used = Object.entries(data.variables).filter(([name]) => new RegExp(`\\b${name}\\b`).test(expr));
  return JSON.stringify({ expr, vars: Object.fromEntries(used), types });
});
const run = spawnSync("go", ["run", "."], {
  cwd: new URL("../testdata/oracle/", import.meta.url),
  input: `${questions.join("\n")}\n`,
  maxBuffer: 1 << 28,
  encoding: "utf8",
});
if (run.status !== 0) throw new Error(`the oracle failed: ${run.stderr}`);
const answers = run.stdout
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Record<string, unknown>);
const cases = data.cases.map(({ expr, types }, index) => {
  const { expr: _, ...answer } = answers[index] ?? {};
  return `    ${JSON.stringify({ expr, types, ...answer })}`;
});
const head = JSON.stringify({ kubernetes: data.kubernetes, variables: data.variables }, null, 2).replace(/\n}$/, "");
writeFileSync(file, `${head},\n  "cases": [\n${cases.join(",\n")}\n  ]\n}\n`);
