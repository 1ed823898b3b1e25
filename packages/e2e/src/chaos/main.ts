/** `npm run test:chaos [-- --minutes 10 --seed 1]`: kills processes at random for a while and says what became of it. */
import { parseArgs } from "node:util";
import { TestCluster } from "../cluster.ts";
import { runChaosOnBothStacks } from "./both-stacks.ts";
import { Random } from "./random.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: String(Date.now() % 1e6) } },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write("--minutes must be a positive number and --seed an integer\n");
  process.exit(2);
}
process.stdout.write(`${minutes} minutes with seed ${seed}\n`);
const cluster = await TestCluster.create();
try {
  const reports = await runChaosOnBothStacks({
    cluster,
    random: new Random(seed),
    durationMs: minutes * 60_000,
    leastKinds: 0,
    say: (line) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`),
  });
  for (const report of reports) process.stdout.write(`${JSON.stringify(report)}\n`);
} finally {
  await cluster.destroy();
}
