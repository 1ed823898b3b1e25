/** Runs the benchmarks: `npm run bench [-- NAME…]`. Each prints its numbers; a broken budget makes the exit code 1. */
import { readdir } from "node:fs/promises";
import { isWithinBudget, type Benchmark } from "./benchmark.ts";

const folder = new URL(".", import.meta.url);
const wanted = process.argv.slice(2);
const files = (await readdir(folder)).filter((file) => file.endsWith(".bench.ts")).toSorted();
let broken = 0;

for (const file of files) {
  // Every *.bench.ts exports `benchmark`; one that does not fails right here.
  const { benchmark } = (await import(new URL(file, folder).href)) as { benchmark: Benchmark };
  if (wanted.length > 0 && !wanted.includes(benchmark.name)) continue;
  process.stdout.write(`\n${benchmark.name}: ${benchmark.summary}\n`);
  await benchmark.run((measurement) => {
    const within = isWithinBudget(measurement);
    if (within === false) broken += 1;
    const verdict = within === undefined ? "" : within ? "  within budget" : "  OVER BUDGET";
    const limit = measurement.budget === undefined ? "" : `  (budget ${JSON.stringify(measurement.budget)})`;
    const value = measurement.value.toFixed(measurement.unit === "count" ? 0 : 2).padStart(12);
    process.stdout.write(`  ${measurement.name.padEnd(56)}${value} ${measurement.unit}${limit}${verdict}\n`);
  });
}
process.exitCode = broken === 0 ? 0 : 1;
