import { nodeLabels, type KubeVirtConfiguration } from "@polyvirt/api";
import type { KernelTree } from "@polyvirt/host";
import type { Architecture, ClusterConfig } from "@polyvirt/hypervisor";
import type { NodeReport } from "./heartbeat.ts";
import { hypervisorCondition } from "./hypervisor-condition.ts";
import type { ExportedCapabilities } from "./labeller/capabilities-export.ts";
import { capabilityLabels } from "./labeller/capability-labels.ts";
import { hostLabels } from "./labeller/host-labels.ts";

export interface NodeFacts {
  readonly hostArchitecture: Architecture;
  readonly exported: ExportedCapabilities;
  readonly config: ClusterConfig;
  readonly configuration: Pick<KubeVirtConfiguration, "obsoleteCPUModels"> | undefined;
  readonly hypervisorDevice: string;
  readonly sys: KernelTree;
  readonly proc: KernelTree;
  readonly dev: KernelTree;
  /** The kubelet's own folder. */
  readonly kubelet: KernelTree;
}

/** Models that are too old to be chosen for a guest, unless the administrator says otherwise. */
const obsoleteByDefault =
  "486 pentium pentium2 pentium3 pentiumpro coreduo core2duo n270 Conroe athlon phenom qemu64 qemu32 kvm64 kvm32 Opteron_G1 Opteron_G2".split(
    " ",
  );

/** Everything that this node shows of itself. */
export function nodeReport(facts: NodeFacts): NodeReport {
  const { exported, hostArchitecture, config, hypervisorDevice, dev } = facts;
  return {
    labels: {
      ...hostLabels(facts),
      ...cpuManagerLabels(facts),
      ...capabilityLabels({
        hostArchitecture,
        exported,
        machines: config.machines,
        obsoleteCpuModels: obsoleteModels(facts.configuration?.obsoleteCPUModels),
      }),
    },
    condition: hypervisorCondition(hypervisorDevice, exported.get(hostArchitecture), dev),
  };
}

function obsoleteModels(given: Readonly<Record<string, boolean>> | undefined): ReadonlySet<string> {
  if (given === undefined) return new Set(obsoleteByDefault);
  return new Set(Object.entries(given).flatMap(([name, obsolete]) => (obsolete ? [name] : [])));
}

/** Pinned guests go where the kubelet gives whole CPUs away. */
function cpuManagerLabels({ config, kubelet }: NodeFacts): Record<string, string> {
  if (!config.isEnabled("CPUManager")) return {};
  const pins = /"policyName"\s*:\s*"static"/.test(kubelet.read("cpu_manager_state") ?? "");
  return { [nodeLabels.cpuManager]: String(pins), cpumanager: String(pins) };
}
