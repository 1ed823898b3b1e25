/** Everything: checks, unit, integration and end-to-end tests. `./polyvirt test [--only checks|unit|integration|e2e]`. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./checks.ts";
import { repositoryRoot } from "./repository.ts";

const suites = ["unit", "integration", "e2e"] as const;
const onlyIndex = process.argv.indexOf("--only");
const only = onlyIndex < 0 ? undefined : process.argv[onlyIndex + 1];

const total = { passed: 0, failed: 0, skipped: 0 };
if (only === undefined || only === "checks") {
  const { passed, failed } = await runChecks();
  total.passed += passed;
  total.failed += failed;
}
for (const suite of suites) {
  if (only !== undefined && only !== suite) continue;
  const result = await runSuite(suite);
  total.passed += result.passed;
  total.failed += result.failed;
  total.skipped += result.skipped;
}
const skipped = total.skipped === 0 ? "" : `, ${total.skipped} skipped`;
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;

async function runSuite(suite: string): Promise<{ passed: number; failed: number; skipped: number }> {
  process.stdout.write(`\n== ${suite} ==\n`);
  const folder = await mkdtemp(join(tmpdir(), "polyvirt-test-"));
  const report = join(folder, "report.json");
  try {
    const code = await new Promise<number>((resolve) => {
      const args = [
        "vitest",
        "run",
        "--project",
        suite,
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`,
      ];
      const child = spawn("npx", args, { cwd: repositoryRoot, stdio: ["ignore", "inherit", "inherit"] });
      child.on("close", (exitCode) => resolve(exitCode ?? 1));
    });
    // vitest's own JSON report; a run that died before writing it counts as one failure.
    const counts = JSON.parse(await readFile(report, "utf8").catch(() => "{}")) as {
      numPassedTests?: number;
      numFailedTests?: number;
      numPendingTests?: number;
      numTodoTests?: number;
    };
    const failed = counts.numFailedTests ?? 0;
    return {
      passed: counts.numPassedTests ?? 0,
      // A suite can fail without a failed test: a file that does not load, an error after the last test.
      failed: code !== 0 && failed === 0 ? 1 : failed,
      skipped: (counts.numPendingTests ?? 0) + (counts.numTodoTests ?? 0),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
