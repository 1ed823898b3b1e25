import type { KubeVirtConfiguration } from "@polyvirt/api";
import { jsonEqual, type Clock, type Logger } from "@polyvirt/core";
import { openKernelTree } from "@polyvirt/host";
import type { Architecture, ClusterConfig, HypervisorRegistry } from "@polyvirt/hypervisor";
import type { KubeClient } from "@polyvirt/kube";
import { runDevicePlugins } from "../devices/device-plugins.ts";
import type { DeviceSource } from "../devices/device-source.ts";
import { nodeSources } from "../devices/node-sources.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { hypervisorCondition } from "./hypervisor-condition.ts";
import { readExportedCapabilities } from "./labeller/capabilities-export.ts";
import { readTopology, type NodeTopology } from "./labeller/topology.ts";
import { nodeReport } from "./node-report.ts";

export interface NodeSideDeps {
  readonly client: Pick<KubeClient, "get" | "patch">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly hostArchitecture: Architecture;
  readonly hypervisors: Pick<HypervisorRegistry, "select">;
  readonly paths: {
    readonly capabilities: string;
    readonly devicePlugins: string;
    readonly kubelet: string;
    readonly sys?: string;
    readonly dev?: string;
  };
  /** The cluster's configuration with its defaults, and as the administrator wrote it. */
  readonly config: () => ClusterConfig;
  readonly configuration: () => KubeVirtConfiguration | undefined;
}

/** What virt-handler does for its node rather than for a guest: devices, labels, the sign that it lives. */
export interface NodeSide {
  readonly topology: NodeTopology;
  run(signal: AbortSignal): Promise<void>;
  /** The configuration has changed. */
  wake(): void;
}

export function createNodeSide(deps: NodeSideDeps): NodeSide {
  const { clock, logger, hostArchitecture, paths } = deps;
  const sys = openKernelTree(paths.sys ?? "/sys");
  const dev = openKernelTree(paths.dev ?? "/dev");
  const proc = openKernelTree("/proc");
  const kubelet = openKernelTree(paths.kubelet);
  // Written by an init container: it does not change for as long as this process lives.
  const exported = readExportedCapabilities(paths.capabilities, logger);
  const hypervisorDevice = (): string => deps.hypervisors.select(deps.config().hypervisor).node.hypervisorDevice;
  const isUsable = (): boolean =>
    hypervisorCondition(hypervisorDevice(), exported.get(hostArchitecture), dev).status === "True";
  let known: { readonly of: object; readonly sources: DeviceSource[] } | undefined;
  const sources = (): DeviceSource[] => {
    const wanted = { hypervisorDevice: hypervisorDevice(), permitted: deps.configuration()?.permittedHostDevices };
    if (known === undefined || !jsonEqual(known.of, wanted)) {
      known = { of: wanted, sources: nodeSources({ sys, dev, ...wanted, isHypervisorUsable: isUsable }) };
    }
    return known.sources;
  };
  const heartbeat = createHeartbeat({
    ...deps,
    report: () =>
      nodeReport({
        hostArchitecture,
        exported,
        config: deps.config(),
        configuration: deps.configuration(),
        hypervisorDevice: hypervisorDevice(),
        sys,
        proc,
        dev,
        kubelet,
      }),
  });
  return {
    topology: readTopology(sys),
    async run(signal) {
      const plugins = runDevicePlugins({ clock, logger, directory: paths.devicePlugins, sources }, signal);
      await Promise.all([heartbeat.run(signal), plugins]);
    },
    wake: () => heartbeat.wake(),
  };
}
