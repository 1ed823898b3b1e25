import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** Milliseconds of CPU time of one call of each task: the least of many rounds, taken in turns, so that load hits all alike. */
export function fastest(
  tasks: Readonly<Record<string, () => unknown>>,
  { rounds = 15, calls = 40 } = {},
): (task: string) => number {
  const best: Record<string, number> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, task] of Object.entries(tasks)) {
      const before = process.cpuUsage();
      for (let call = 0; call < calls; call += 1) task();
      const { user, system } = process.cpuUsage(before);
      best[name] = Math.min(best[name] ?? Infinity, (user + system) / (calls * 1000));
    }
  }
  return (task) => best[task] ?? Number.NaN;
}

export interface Bundle {
  /** To be imported. */
  readonly file: string;
  readonly mebibytes: number;
}

/** Bundles a module the way roles are built, for as long as it is used: sources would be translated on the fly otherwise. */
export async function withBundle<T>(source: string, use: (bundle: Bundle) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "polyvirt-bench-"));
  try {
    const outfile = join(folder, "bundle.mjs");
    const resolveDir = fileURLToPath(new URL(".", import.meta.url));
    const { metafile } = await build({
      stdin: { contents: source, resolveDir, loader: "ts" },
      bundle: true,
      format: "esm",
      platform: "node",
      minify: true,
      metafile: true,
      outfile,
    });
    const bytes = Object.values(metafile.outputs).reduce((sum, { bytes: size }) => sum + size, 0);
    return await use({ file: outfile, mebibytes: bytes / 1_048_576 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a script in a Node of its own that can collect garbage at will (`gc()`); it prints the numbers that are returned. */
export function inFreshProcess(script: string): number[] {
  const args = ["--expose-gc", "--max-semi-space-size=64", "--input-type=module", "-e", script];
  // The callers' own scripts print a JSON list.
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as number[];
}
