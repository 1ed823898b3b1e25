import type { KubeVirt, VirtualMachineInstance } from "@polyvirt/api";
import type { Node } from "@polyvirt/api/k8s";
import {
  parseArchitecture,
  resolveClusterConfig,
  type Architecture,
  type ClusterConfig,
  type Hypervisor,
  type HypervisorRegistry,
} from "@polyvirt/hypervisor";
import type { Informer } from "@polyvirt/kube";
import { planPlacement, type Placement } from "./placement/placement.ts";

/** What the administrator configured and what the nodes offer, as it is now. */
export interface ClusterSettings {
  config(): ClusterConfig;
  hypervisorOf(vmi: VirtualMachineInstance): Hypervisor;
  placementOf(vmi: VirtualMachineInstance): Placement;
}

interface ClusterSettingsDeps {
  readonly kubeVirts: Informer<KubeVirt>;
  readonly nodes: Informer<Node>;
  readonly hypervisors: Pick<HypervisorRegistry, "select">;
  readonly hostArchitecture: Architecture;
}

export function createClusterSettings(deps: ClusterSettingsDeps): ClusterSettings {
  const { kubeVirts, nodes, hypervisors, hostArchitecture } = deps;
  let resolved: { source: KubeVirt | undefined; config: ClusterConfig } | undefined;
  const settings: ClusterSettings = {
    config() {
      // There is one; should someone make a second, the older one counts.
      const [source] = kubeVirts
        .list()
        .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""));
      if (resolved === undefined || resolved.source !== source) {
        resolved = { source, config: resolveClusterConfig(source?.spec?.configuration, { hostArchitecture }) };
      }
      return resolved.config;
    },
    hypervisorOf({ spec }) {
      const selected = hypervisors.select(settings.config().hypervisor);
      const wanted = spec.hypervisor ?? "";
      const isSelected = wanted === "" || [selected.name, ...selected.aliases].includes(wanted);
      return isSelected ? selected : hypervisors.select({ name: wanted });
    },
    placementOf(vmi) {
      const config = settings.config();
      const architecture = parseArchitecture(vmi.spec.architecture ?? config.defaultArchitecture);
      // What is no architecture is refused when its pod is made, with the names that exist.
      if (architecture === undefined) return { mode: "native", candidates: [] };
      return planPlacement({
        architecture,
        config,
        nodes: nodes.list().map(offerOf),
        hypervisorDevice: () => settings.hypervisorOf(vmi).node.hypervisorDevice,
      });
    },
  };
  return settings;
}

function offerOf({ metadata, status }: Node) {
  return { labels: metadata.labels ?? {}, allocatable: status?.allocatable ?? {} };
}
