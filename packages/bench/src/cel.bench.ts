import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { expressions, peers, vmi, type measure } from "./cel-engines.ts";

/** The engines as one bundle, the way roles are built: our sources would otherwise be the only ones translated on the fly. */
async function measureBundled(): Promise<Record<string, number>[]> {
  const folder = mkdtempSync(join(tmpdir(), "polyvirt-bench-"));
  try {
    const outfile = join(folder, "engines.mjs");
    const entry = fileURLToPath(new URL("cel-engines.ts", import.meta.url));
    await build({ entryPoints: [entry], bundle: true, format: "esm", platform: "node", logLevel: "error", outfile });
    // It is the bundle of that very module.
    const bundled = (await import(outfile)) as { measure: typeof measure };
    return expressions.map((source) => bundled.measure(source));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface GoTimes {
  readonly evaluate: number;
  readonly metered: number;
  readonly compile: number;
}

/** The same in Go; undefined where there is no Go or its modules cannot be had. */
function measureCelGo(): readonly GoTimes[] | undefined {
  const run = spawnSync("go", ["run", "."], {
    cwd: new URL("cel-go/", import.meta.url),
    input: JSON.stringify({ object: vmi, expressions, seconds: 0.2 }),
    encoding: "utf8",
  });
  // Our own program prints exactly this.
  return run.status === 0 ? (JSON.parse(run.stdout) as readonly GoTimes[]) : undefined;
}

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((total, value) => total + Math.log(value), 0) / values.length);

export const benchmark: Benchmark = {
  name: "cel",
  summary: "CEL conditions: evaluation and compilation, against other engines on the same machine",
  async run(report) {
    const times = await measureBundled();
    const mean = (task: string): number => geometricMean(times.map((each) => each[task] ?? Number.NaN));
    const ratio = (name: string, value: number, budget?: Measurement["budget"]): void => {
      report({ name, value, unit: "ratio", ...(budget === undefined ? {} : { budget }) });
    };
    const [evaluate, compile] = [mean("evaluate polyvirt"), mean("compile polyvirt")];
    report({ name: "evaluations of a condition", value: 1e9 / evaluate, unit: "per second" });
    for (const engine of peers) {
      ratio(`evaluation over ${engine}`, evaluate / mean(`evaluate ${engine}`), { atMost: 1 });
      ratio(`compilation over ${engine}`, compile / mean(`compile ${engine}`));
    }
    const go = measureCelGo();
    if (go === undefined) return;
    const goMean = (part: keyof GoTimes): number => geometricMean(go.map((each) => each[part]));
    ratio("evaluation over cel-go", evaluate / goMean("evaluate"), { atMost: 2 });
    ratio("evaluation over cel-go with cost tracking, as ours has", evaluate / goMean("metered"));
    ratio("compilation over cel-go", compile / goMean("compile"));
  },
};
