import { spawnSync } from "node:child_process";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { fastest, inFreshProcess, withBundle, type Bundle } from "./measure.ts";
import type { pipeline as Pipeline, vmiText as VmiText } from "./hypervisor-pipeline.ts";

/** Nanoseconds. */
interface GoTimes {
  readonly write: number;
  readonly convert: number;
}

/** What KubeVirt's ecosystem writes domains with, on the same XML; undefined where there is no Go or its modules cannot be had. */
function measureGo(xml: string, vmi: string): GoTimes | undefined {
  const run = spawnSync("go", ["run", "."], {
    cwd: new URL("libvirtxml-go/", import.meta.url),
    input: JSON.stringify({ xml, vmi, seconds: 2 }),
    encoding: "utf8",
  });
  // Our own program prints exactly this.
  return run.status === 0 ? (JSON.parse(run.stdout) as GoTimes) : undefined;
}

/** What the layer costs a launcher: time to load, heap that stays, and garbage made by one conversion. */
function coldStart({ file }: Bundle): { loadMs: number; firstMs: number; heapMiB: number; garbageKiB: number } {
  const [loadMs = 0, firstMs = 0, heapMiB = 0, garbageKiB = 0] = inFreshProcess(`
    gc(); const heap = process.memoryUsage().heapUsed; const start = performance.now();
    const { pipeline } = await import(${JSON.stringify(file)}); const loaded = performance.now();
    pipeline.whole(); const done = performance.now(); gc();
    const kept = process.memoryUsage().heapUsed;
    for (let call = 0; call < 500; call += 1) pipeline.whole();
    gc(); const before = process.memoryUsage().heapUsed;
    for (let call = 0; call < 50; call += 1) pipeline.whole();
    const garbage = (process.memoryUsage().heapUsed - before) / 50 / 1024;
    console.log(JSON.stringify([loaded - start, done - loaded, (kept - heap) / 1048576, garbage]));`);
  return { loadMs, firstMs, heapMiB, garbageKiB };
}

export const benchmark: Benchmark = {
  name: "hypervisor",
  summary: "VMI to domain XML: defaults, validation, conversion, writing; a guest with 4 disks, beside Go's libvirtxml",
  async run(report) {
    await withBundle(`export { pipeline, vmiText } from "./hypervisor-pipeline.ts";`, async (bundle) => {
      // It is the bundle of that very module.
      const { pipeline, vmiText } = (await import(bundle.file)) as {
        pipeline: typeof Pipeline;
        vmiText: typeof VmiText;
      };
      const time = fastest(pipeline, { rounds: 40, calls: 100 });
      const cold = coldStart(bundle);
      const go = measureGo(pipeline.whole(), vmiText);
      const measurements: Measurement[] = [
        { name: "VMIs to XML", value: 1000 / time("whole"), unit: "per second", budget: { atLeast: 1000 } },
        { name: "CPU time of one", value: time("whole"), unit: "ms" },
        { name: "  of it defaults", value: time("defaults"), unit: "ms" },
        { name: "  of it validation", value: time("validate"), unit: "ms" },
        { name: "  of it conversion", value: time("convert"), unit: "ms" },
        { name: "  of it writing", value: time("write"), unit: "ms" },
        ...(go === undefined ? [] : goRatios(time, go)),
        { name: "garbage made by one", value: cold.garbageKiB, unit: "KiB" },
        { name: "bundle, minified", value: bundle.mebibytes, unit: "MiB" },
        { name: "fresh process: load the bundle", value: cold.loadMs, unit: "ms" },
        { name: "fresh process: first VMI", value: cold.firstMs, unit: "ms" },
        { name: "fresh process: heap kept afterwards", value: cold.heapMiB, unit: "MiB", budget: { atMost: 6 } },
      ];
      for (const measurement of measurements) report(measurement);
    });
  },
};

function goRatios(time: (task: string) => number, go: GoTimes): Measurement[] {
  const ratio = (name: string, value: number): Measurement => ({ name, value, unit: "ratio", budget: { atMost: 2 } });
  return [
    ratio("writing, over Go writing the same", time("write") / (go.write / 1e6)),
    ratio("VMI to XML with all checks, over Go reading one and writing the other", time("whole") / (go.convert / 1e6)),
  ];
}
