// Asks the oracle again about every expression of kubernetes-vectors.json and rewrites the answers: node regenerate.mjs
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../kubernetes-vectors.json", import.meta.url);
const data = JSON.parse(readFileSync(file, "utf8"));
const questions = data.cases.map(({ expr, types }) => {
  const used = Object.entries(data.variables).filter(([name]) => new RegExp(`\\b${name}\\b`).test(expr));
  return JSON.stringify({ expr, vars: Object.fromEntries(used), ...(types === undefined ? {} : { types }) });
});
const run = spawnSync("go", ["run", "."], {
  cwd: new URL(".", import.meta.url),
  input: `${questions.join("\n")}\n`,
  maxBuffer: 1 << 28,
  stdio: ["pipe", "pipe", "inherit"],
});
if (run.status !== 0) process.exit(run.status ?? 1);
const answers = String(run.stdout).trim().split("\n").map((line) => JSON.parse(line));
data.cases = data.cases.map(({ expr, types }, index) => {
  const { expr: _, ...answer } = answers[index];
  return { expr, ...(types === undefined ? {} : { types }), ...answer };
});
const lines = data.cases.map((item) => `    ${JSON.stringify(item)}`).join(",\n");
const head = JSON.stringify({ kubernetes: data.kubernetes, variables: data.variables }, null, 2).replace(/\n}$/, "");
writeFileSync(file, `${head},\n  "cases": [\n${lines}\n  ]\n}\n`);
