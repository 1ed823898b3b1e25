import { nodeLabels } from "@polyvirt/api";
import { checkQualifiedName } from "@polyvirt/core";
import type { Architecture, ClusterConfig } from "@polyvirt/hypervisor";
import type { Capabilities, ExportedCapabilities } from "./capabilities-export.ts";

export interface CapabilityLabelInput {
  readonly hostArchitecture: Architecture;
  readonly exported: ExportedCapabilities;
  readonly machines: ClusterConfig["machines"];
  /** CPU models that guests should not get any more. */
  readonly obsoleteCpuModels: ReadonlySet<string>;
}

/** Labels are `"true"` unless they say more. */
type Labels = Record<string, string>;

/** What this node can run, as labels that launcher pods select by. */
export function capabilityLabels(input: CapabilityLabelInput): Labels {
  const { hostArchitecture, exported } = input;
  const native = exported.get(hostArchitecture);
  const architectures = new Set([hostArchitecture, ...exported.keys()]);
  return valid({
    ...marks(nodeLabels.guestArchitecturePrefix, architectures),
    ...marks(
      nodeLabels.machineTypePrefix,
      [...exported].flatMap(([name, found]) => machineNames(name, found, input)),
    ),
    ...(native === undefined ? {} : nativeLabels(native, input)),
  });
}

/** Only machines that guests may ask for; an emulator knows many boards besides. */
function machineNames(
  architecture: Architecture,
  { supportedMachineTypes }: Capabilities,
  { machines }: CapabilityLabelInput,
): string[] {
  const patterns = machines[architecture].emulatedMachines;
  const allows = (name: string): boolean =>
    patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
  return supportedMachineTypes.map(({ name }) => name).filter(allows);
}

/** What concerns guests of the node's own architecture. arm64 has no models to tell apart. */
function nativeLabels(native: Capabilities, { hostArchitecture, obsoleteCpuModels }: CapabilityLabelInput): Labels {
  const hasModels = hostArchitecture !== "arm64";
  const { supportedCpuModels: models, nodeTscInfo: tsc, nodeSevFeatures: sev } = native;
  const usable = models.filter(({ name, usable: can }) => can && !obsoleteCpuModels.has(name));
  return {
    ...(hasModels ? marks(nodeLabels.cpuFeaturePrefix, native.supportedCpuFeatures) : {}),
    ...(hasModels
      ? marks(
          nodeLabels.cpuModelPrefix,
          usable.map(({ name }) => name),
        )
      : {}),
    ...(hasModels
      ? marks(
          nodeLabels.cpuModelMigrationPrefix,
          models.map(({ name }) => name),
        )
      : {}),
    ...(hasModels ? hostModelLabels(native, obsoleteCpuModels) : {}),
    ...(hostArchitecture === "amd64" ? marks(nodeLabels.hypervPrefix, native.hypervFeatures) : {}),
    ...(tsc === undefined || tsc.frequencyHz === 0n
      ? {}
      : {
          [nodeLabels.tscFrequency]: String(tsc.frequencyHz),
          [nodeLabels.tscScalable]: String(tsc.scalable),
          [`${nodeLabels.tscFrequencyPrefix}${tsc.frequencyHz}`]: "true",
        }),
    ...(sev?.supported === true ? { [nodeLabels.sev]: "true" } : {}),
    ...(sev?.encryptedStateSupported === true ? { [nodeLabels.sevEs]: "true" } : {}),
    ...(sev?.secureNestedPagingSupported === true ? { [nodeLabels.sevSnp]: "true" } : {}),
  };
}

function hostModelLabels({ hostCpuModel: model }: Capabilities, obsolete: ReadonlySet<string>): Labels {
  if (model === undefined || model.name === "") return {};
  return {
    [`${nodeLabels.hostModelCpuPrefix}${model.name}`]: "true",
    ...marks(nodeLabels.hostModelRequiredFeaturesPrefix, model.requiredFeatures),
    ...(obsolete.has(model.name) ? { [nodeLabels.obsoleteHostModel]: "true" } : {}),
    ...(model.vendor === "" ? {} : { [`${nodeLabels.cpuVendorPrefix}${model.vendor}`]: "true" }),
  };
}

function marks(prefix: string, names: Iterable<string>): Labels {
  return Object.fromEntries([...names].map((name) => [`${prefix}${name}`, "true"]));
}

/** What the API server would refuse must not keep the other labels from being written. */
function valid(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => checkQualifiedName(key).length === 0));
}
