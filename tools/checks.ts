/** The checks that guard the repository itself; `npm run check` runs them, and so does `./polyvirt test`. */
import { checkErrorReference } from "./error-reference.ts";
import { checkGenerated } from "./generated.ts";
import { checkImports } from "./imports.ts";
import { repositoryRoot } from "./repository.ts";
import { run } from "./run.ts";

interface Check {
  readonly name: string;
  /** What is wrong, one line each; nothing when all is well. */
  run(): Promise<readonly string[]>;
}

const checks: readonly Check[] = [
  command("format", "npx", ["oxfmt", "--check", "."]),
  command("types", "npx", ["tsc", "-p", "."]),
  command("lint", "npx", ["oxlint", "--quiet", "."]),
  { name: "direction of imports", run: async () => (await checkImports(repositoryRoot)).problems },
  { name: "error codes", run: checkErrorReference },
  { name: "generated code", run: checkGenerated },
  command("unused files, exports and dependencies", "npx", ["knip", "--no-progress"]),
];

export async function runChecks(): Promise<{ passed: number; failed: number }> {
  let failed = 0;
  for (const check of checks) {
    const problems = await check.run().catch((error: unknown) => [String(error)]);
    process.stdout.write(`${problems.length === 0 ? "ok  " : "FAIL"} check: ${check.name}\n`);
    for (const problem of problems) process.stdout.write(`     ${problem}\n`);
    if (problems.length > 0) failed += 1;
  }
  return { passed: checks.length - failed, failed };
}

function command(name: string, program: string, args: readonly string[]): Check {
  return {
    name,
    async run() {
      const { code, output } = await run(program, args);
      if (code === 0) return [];
      const lines = output.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("npm warn"));
      return lines.length > 0 ? lines : [`${program} ${args.join(" ")}: exit code ${code}`];
    },
  };
}
