import type { KubeVirt } from "@polyvirt/api";
import { resolveClusterConfig, type Architecture, type ClusterConfig } from "@polyvirt/hypervisor";
import type { Informer } from "@polyvirt/kube";

/** The cluster's configuration as it is now, resolved once for each version of the KubeVirt object. */
export function createClusterSettings(
  informer: Pick<Informer<KubeVirt>, "list">,
  namespace: string,
  hostArchitecture: Architecture,
): () => ClusterConfig {
  let known: { version: string | undefined; config: ClusterConfig } | undefined;
  return () => {
    const kubevirt = informer.list().find(({ metadata }) => metadata.namespace === namespace);
    const version =
      kubevirt === undefined ? undefined : `${kubevirt.metadata.uid}/${kubevirt.metadata.resourceVersion}`;
    if (known === undefined || known.version !== version) {
      known = { version, config: resolveClusterConfig(kubevirt?.spec.configuration, { hostArchitecture }) };
    }
    return known.config;
  };
}
