import { celEnv, parse, plan } from "@bufbuild/cel";
import { Environment as MarcEnvironment } from "@marcbachmann/cel-js";
import { Environment, types } from "@polyvirt/cel";

/** What conditions of plug-ins and policies look like. */
export const expressions = [
  "vmi.status.phase == 'Running'",
  "vmi.status.conditions.exists(c, c.type == 'LiveMigratable' && c.status == 'True')",
  "vmi.spec.domain.devices.disks.exists(d, d.disk.bus == 'ide')",
  "vmi.spec.domain.cpu.cores > 3 && vmi.metadata.name.startsWith('vm-') && vmi.metadata.labels['app'] in ['web', 'db']",
  "has(vmi.spec.domain) && vmi.spec.domain.devices.disks.all(d, has(d.disk) && d.name != '')",
  "vmi.spec.domain.devices.disks.filter(d, d.disk.bus == 'virtio').map(d, d.name) == ['a', 'b']",
];

export const vmi = {
  metadata: { name: "vm-1", labels: { app: "web" } },
  spec: {
    domain: {
      cpu: { cores: 4 },
      devices: {
        disks: [
          { name: "a", disk: { bus: "virtio" } },
          { name: "b", disk: { bus: "virtio" } },
          { name: "c", disk: { bus: "ide" } },
        ],
      },
    },
  },
  status: {
    phase: "Running",
    conditions: [
      { type: "Ready", status: "True" },
      { type: "LiveMigratable", status: "True" },
    ],
  },
};

/** Nanoseconds of CPU time of one call of each task: the best of many short rounds, taken in turns, so that load hits all. */
function fastest(tasks: Readonly<Record<string, () => unknown>>): Record<string, number> {
  const best: Record<string, number> = {};
  for (let round = 0; round < 25; round += 1) {
    for (const [name, task] of Object.entries(tasks)) {
      const calls = name.startsWith("compile") ? 100 : 3_000;
      const before = process.cpuUsage();
      for (let call = 0; call < calls; call += 1) task();
      const { user, system } = process.cpuUsage(before);
      best[name] = Math.min(best[name] ?? Infinity, ((user + system) * 1000) / calls);
    }
  }
  return best;
}

export const peers = ["@marcbachmann/cel-js", "@bufbuild/cel"] as const;

/** Evaluation and compilation of one expression in each JavaScript engine. */
export function measure(source: string): Record<string, number> {
  const ours = new Environment({ variables: { vmi: types.DYN } });
  const marc = new MarcEnvironment({ unlistedVariablesAreDyn: true });
  const buf = celEnv();
  const [program, marcProgram, bufProgram] = [ours.compile(source), marc.parse(source), plan(buf, parse(source))];
  let variant = 0;
  // Another source each time, which no cache of compiled expressions has.
  const fresh = (): string => `(${source}) || ${(variant += 1)} == 0`;
  return fastest({
    "evaluate polyvirt": () => program.run({ vmi }),
    "evaluate @marcbachmann/cel-js": () => marcProgram({ vmi }),
    "evaluate @bufbuild/cel": () => bufProgram({ vmi }),
    "compile polyvirt": () => ours.compile(fresh()),
    "compile @marcbachmann/cel-js": () => marc.parse(fresh()),
    "compile @bufbuild/cel": () => plan(buf, parse(fresh())),
  });
}
