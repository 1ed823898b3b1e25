/** Values that this package's tests share: a small valid VMI, a cluster, and what a launcher would know. */
import type { KubeVirtConfiguration, VirtualMachineInstance, VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { Architecture } from "../architecture.ts";
import { resolveClusterConfig, type ClusterConfig } from "../cluster-config.ts";
import type { ConverterContext, VolumeLocation } from "../converter/context.ts";
import { planningContext } from "../converter/planning-context.ts";

export const testUuid = "5d307ca9-b3ef-428c-8861-06e72d69f223";

export function clusterConfig(
  configuration: KubeVirtConfiguration = {},
  hostArchitecture: Architecture = "amd64",
): ClusterConfig {
  return resolveClusterConfig(configuration, { hostArchitecture });
}

export function instance(
  domain: Partial<VirtualMachineInstanceSpec["domain"]> = {},
  spec: Partial<Omit<VirtualMachineInstanceSpec, "domain">> = {},
): VirtualMachineInstance {
  return {
    metadata: { name: "testvmi", namespace: "default", uid: "11111111-2222-3333-4444-555555555555" },
    spec: { ...spec, domain: { devices: {}, memory: { guest: "128Mi" }, ...domain } },
  };
}

interface ContextOptions {
  readonly hostArchitecture?: Architecture;
  readonly accelerated?: boolean;
}

/** Everything that a VMI may need is there, emulation included; tests take away what they are about. */
export function converterContext(vmi: VirtualMachineInstance, options: ContextOptions = {}): ConverterContext {
  const context = planningContext(vmi, { config: clusterConfig(), hostArchitecture: "amd64", ...options });
  // A claim whose name begins with "block-" is a block device.
  const volumes = Object.fromEntries(
    (vmi.spec.volumes ?? []).map(({ name, persistentVolumeClaim }): [string, VolumeLocation | undefined] => [
      name,
      persistentVolumeClaim?.claimName.startsWith("block-") === true
        ? { kind: "block", path: `/dev/${name}`, format: "raw", directIo: true }
        : context.volumes[name],
    ]),
  ) as ConverterContext["volumes"]; // The planning context has a place for every volume.
  return { ...context, volumes, emulation: { allowed: true, crossArchitectureAllowed: true } };
}
