import type { KubeVirt } from "@polyvirt/api";
import { nodeLabels } from "@polyvirt/api";
import type { Node } from "@polyvirt/api/k8s";
import { resolveClusterConfig, type Architecture, type ClusterConfig } from "@polyvirt/hypervisor";
import type { Informer } from "@polyvirt/kube";

/** What the administrator configured and what the nodes offer, as it is now. */
export interface ClusterSettings {
  config(): ClusterConfig;
  everyNodeOffers(resourceName: string): boolean;
}

interface ClusterSettingsDeps {
  readonly kubeVirts: Informer<KubeVirt>;
  readonly nodes: Informer<Node>;
  readonly hostArchitecture: Architecture;
}

export function createClusterSettings({ kubeVirts, nodes, hostArchitecture }: ClusterSettingsDeps): ClusterSettings {
  let resolved: { source: KubeVirt | undefined; config: ClusterConfig } | undefined;
  return {
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
    everyNodeOffers(resourceName) {
      const able = nodes.list().filter((node) => node.metadata.labels?.[nodeLabels.schedulable] === "true");
      return able.length > 0 && able.every((node) => offers(node, resourceName));
    },
  };
}

function offers(node: Node, resourceName: string): boolean {
  const count = node.status?.allocatable?.[resourceName];
  return count !== undefined && count !== "0";
}
