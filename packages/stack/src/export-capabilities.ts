import { capabilitiesV1, create, toJson, type JsonValue } from "@polyvirt/protocol";
import type { CapabilityTarget } from "./capability-provider.ts";
import type { Stack } from "./contract.ts";

/** Whether the node's hypervisor works, found out by running a guest. */
export interface HypervisorDeviceFacts {
  readonly path: string;
  readonly usable: boolean;
  readonly reason: string;
  readonly probeMilliseconds: number;
}

/** Asks all seven questions and packs the answers into the Capabilities message. */
export async function collectCapabilities(
  stack: Stack,
  target: CapabilityTarget,
  hypervisorDevice?: HypervisorDeviceFacts,
): Promise<capabilitiesV1.Capabilities> {
  const provider = stack.capabilities(target);
  const [machines, models, hostModel, tsc, sev] = await Promise.all([
    provider.getSupportedMachineTypes(),
    provider.getSupportedCpuModels(),
    provider.getHostCpuModelInfo(),
    provider.getNodeTscInfo(),
    provider.getNodeSevFeatures(),
  ]);
  return create(capabilitiesV1.CapabilitiesSchema, {
    vmmName: stack.vmmName,
    vmmVersion: await stack.vmmVersion(),
    architecture: target.architecture,
    virtType: target.virtType,
    hypervFeatures: [...(await provider.getHypervFeatures())],
    supportedMachineTypes: machines.map((machine) => ({ ...machine })),
    supportedCpuModels: models.map(({ unavailableFeatures = [], ...model }) => ({
      ...model,
      unavailableFeatures: [...unavailableFeatures],
    })),
    ...(hostModel && { hostCpuModel: { ...hostModel, requiredFeatures: [...hostModel.requiredFeatures] } }),
    supportedCpuFeatures: [...(await provider.getSupportedCpuFeatures())],
    ...(tsc && { nodeTscInfo: { frequencyHz: BigInt(tsc.frequencyHz), scalable: tsc.scalable } }),
    nodeSevFeatures: { ...sev },
    ...(hypervisorDevice && {
      hypervisorDevice: { ...hypervisorDevice, probeMilliseconds: BigInt(hypervisorDevice.probeMilliseconds) },
    }),
  });
}

/** The Capabilities message as ProtoJSON: what a launcher image writes for the node labeller. */
export async function exportCapabilities(
  stack: Stack,
  target: CapabilityTarget,
  hypervisorDevice?: HypervisorDeviceFacts,
): Promise<JsonValue> {
  return toJson(capabilitiesV1.CapabilitiesSchema, await collectCapabilities(stack, target, hypervisorDevice));
}
