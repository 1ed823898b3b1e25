import { nodeLabels } from "@polyvirt/api";

/** Labels that are ours alone: one of these that is no longer wanted is stale. */
const ownPrefixes: readonly string[] = [
  nodeLabels.cpuFeaturePrefix,
  nodeLabels.cpuModelPrefix,
  nodeLabels.cpuModelMigrationPrefix,
  nodeLabels.cpuVendorPrefix,
  nodeLabels.hostModelCpuPrefix,
  nodeLabels.hostModelRequiredFeaturesPrefix,
  nodeLabels.machineTypePrefix,
  nodeLabels.hypervPrefix,
  nodeLabels.tscFrequencyPrefix,
  nodeLabels.guestArchitecturePrefix,
  // Older versions wrote these, and nobody reads them any more.
  "feature.node.kubevirt.io/",
];

const ownNames: ReadonlySet<string> = new Set([
  nodeLabels.tscFrequency,
  nodeLabels.tscScalable,
  nodeLabels.obsoleteHostModel,
  nodeLabels.realtime,
  nodeLabels.sev,
  nodeLabels.sevEs,
  nodeLabels.sevSnp,
  nodeLabels.tdx,
  nodeLabels.secureExecution,
  nodeLabels.ksmEnabled,
]);

/** What to patch so that the node has exactly the wanted labels of ours; others' stay. Null takes a label away. */
export function labelChange(
  current: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): Record<string, string | null> {
  const stale = Object.keys(current).filter((key) => isOwn(key) && !(key in wanted));
  const changed = Object.entries(wanted).filter(([key, value]) => current[key] !== value);
  return { ...Object.fromEntries(stale.map((key) => [key, null])), ...Object.fromEntries(changed) };
}

function isOwn(key: string): boolean {
  return ownNames.has(key) || ownPrefixes.some((prefix) => key.startsWith(prefix));
}
