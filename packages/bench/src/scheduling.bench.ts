import type { Node, Pod } from "@polyvirt/api/k8s";
import { createSnapshot, noClaims, planPreemption, schedule } from "@polyvirt/embedded";
import type { Benchmark, Measurement } from "./benchmark.ts";

const nodeCount = 500;
const podCount = 5000;

const nodes = Array.from({ length: nodeCount }, (_, index): Node => ({
  metadata: { name: `node-${index}`, labels: { "kubernetes.io/hostname": `node-${index}`, zone: `zone-${index % 5}` } },
  status: { allocatable: { cpu: "16", memory: "64Gi", pods: "110", "example.com/device": "4" } },
}));

function podOf(index: number, spec: Partial<Pod["spec"]> = {}): Pod {
  return {
    metadata: { name: `pod-${index}`, namespace: "default", uid: String(index), labels: { app: `app-${index % 50}` } },
    spec: { containers: [{ name: "main", resources: { requests: { cpu: "500m", memory: "1Gi" } } }], ...spec },
  };
}

const variants: readonly { readonly name: string; readonly pod: (index: number) => Pod }[] = [
  { name: "plain pods", pod: (index) => podOf(index) },
  {
    name: "pods that avoid their own kind in a zone",
    pod: (index) => {
      const labelSelector = { matchLabels: { app: `app-${index % 50}` } };
      const term = { weight: 1, podAffinityTerm: { topologyKey: "zone", labelSelector } };
      return podOf(index, {
        affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [term] } },
      });
    },
  },
];

/** How long the scheduler thinks: no API server, no bindings. CPU time, so that other load does not count. */
export const benchmark: Benchmark = {
  name: "scheduling",
  summary: `place ${podCount} pods on ${nodeCount} nodes`,
  async run(report) {
    for (const { name, pod } of variants) {
      const before = process.cpuUsage();
      const snapshot = createSnapshot(nodes, []);
      let placed = 0;
      for (let index = 0; index < podCount; index++) {
        const next = pod(index);
        const decision = schedule(next, snapshot);
        if (!decision.fits) continue;
        snapshot.place(next, decision.nodeName);
        placed++;
      }
      const used = process.cpuUsage(before);
      const milliseconds = (used.user + used.system) / 1000;
      report({ name: `${name}: placed`, value: placed, unit: "count", budget: { atLeast: podCount } });
      report({ name: `${name}: each`, value: milliseconds / podCount, unit: "ms", budget: { atMost: 5 } });
    }
    report(measurePreemption());
  },
};

const preemptions = 20;

/** Every node is full of unimportant pods; each important one has to find its victims among all of them. */
function measurePreemption(): Measurement {
  const snapshot = createSnapshot(nodes, []);
  const large = { containers: [{ name: "main", resources: { requests: { cpu: "4" } } }] };
  for (let index = 0; ; index++) {
    const filler = podOf(index, large);
    const decision = schedule(filler, snapshot);
    if (!decision.fits) break;
    snapshot.place(filler, decision.nodeName);
  }
  const context = { namespaceLabels: () => ({}), claims: noClaims, budgets: [] };
  const before = process.cpuUsage();
  for (let index = 0; index < preemptions; index++) {
    const important = podOf(-index - 1, { ...large, priority: 1000 });
    const decision = schedule(important, snapshot, context);
    if (!decision.fits) planPreemption(important, snapshot, decision.crowded, context);
  }
  const used = process.cpuUsage(before);
  const milliseconds = (used.user + used.system) / 1000 / preemptions;
  return { name: "victims for an important pod on full nodes: each", value: milliseconds, unit: "ms" };
}
