import { isGateEnabled, unknownGates, type FeatureGateName, type KubeVirt } from "@polyvirt/api";

/** Something that the KubeVirt object asks for and that we cannot or may not give. */
export interface ConfigurationProblem {
  readonly field: string;
  readonly message: string;
  /** Whether the rest must wait too: carrying it out would give something else than what was asked for. */
  readonly blocks: boolean;
}

/** The hypervisors that may be configured. */
export interface KnownHypervisors {
  has(name: string): boolean;
  names(): string[];
}

/** What cannot be carried out. Nothing here is ignored silently: an unmet wish becomes a condition. */
export function checkConfiguration(kubevirt: KubeVirt, known: KnownHypervisors): ConfigurationProblem[] {
  return [
    ...checkHypervisors(kubevirt, known),
    ...checkGated(kubevirt),
    ...checkUnsupported(kubevirt),
    ...checkGateNames(kubevirt),
  ];
}

function checkGateNames(kubevirt: KubeVirt): ConfigurationProblem[] {
  const field = "spec.configuration.developerConfiguration";
  return unknownGates(kubevirt.spec.configuration).map((name) => ({
    field,
    message: `names the feature gate ${name}, which does not exist here and has no effect`,
    blocks: false,
  }));
}

function checkHypervisors(kubevirt: KubeVirt, known: KnownHypervisors): ConfigurationProblem[] {
  const configuration = kubevirt.spec.configuration ?? {};
  const fields = (["hypervisor", "hypervisors"] as const).filter((name) => (configuration[name] ?? []).length > 0);
  const [field, other] = fields;
  if (field === undefined) return [];
  const path = `spec.configuration.${field}`;
  if (other !== undefined) {
    const message = `is the same setting as ${path}; keep one of them`;
    return [{ field: `spec.configuration.${other}`, message, blocks: true }];
  }
  if (!isGateEnabled(configuration, "ConfigurableHypervisor")) {
    return [{ field: path, message: "has no effect without the feature gate ConfigurableHypervisor", blocks: false }];
  }
  const entries = configuration[field] ?? [];
  const problems: ConfigurationProblem[] = [];
  if (entries.length > 1) {
    const message = `has ${entries.length} entries; a cluster has one hypervisor`;
    problems.push({ field: path, message, blocks: true });
  }
  for (const [index, { name }] of entries.entries()) {
    if (name === undefined || name === "" || known.has(name)) continue;
    const message = `"${name}" is not a hypervisor we have; use ${known.names().join(" or ")}`;
    problems.push({ field: `${path}[${index}].name`, message, blocks: true });
  }
  return problems;
}

/** Fields that a gate guards, and fields that we do not carry out yet even with it. */
const gatedFields: readonly { field: string; gate: FeatureGateName; isSet: (kubevirt: KubeVirt) => boolean }[] = [
  {
    field: "spec.configuration.virtualizationProfile",
    gate: "PluginVirtualizationStacks",
    isSet: ({ spec }) => spec.configuration?.virtualizationProfile !== undefined,
  },
  {
    field: "spec.virtHandlerPools",
    gate: "VirtHandlerPools",
    isSet: ({ spec }) => (spec.virtHandlerPools ?? []).length > 0,
  },
];

/** Without its gate a field is as good as absent, which is said and hinders nothing. */
function checkGated(kubevirt: KubeVirt): ConfigurationProblem[] {
  return gatedFields
    .filter(({ isSet }) => isSet(kubevirt))
    .map(({ field, gate }) =>
      isGateEnabled(kubevirt.spec.configuration, gate)
        ? { field, message: "is not carried out by this version; remove it", blocks: true }
        : { field, message: `has no effect without the feature gate ${gate}`, blocks: false },
    );
}

function checkUnsupported(kubevirt: KubeVirt): ConfigurationProblem[] {
  const { customizeComponents = {}, imagePullPolicy = "" } = kubevirt.spec;
  const problems: ConfigurationProblem[] = [];
  const refuse = (field: string, message: string): number => problems.push({ field, message, blocks: true });
  for (const [index, { type, patch }] of (customizeComponents.patches ?? []).entries()) {
    const field = `spec.customizeComponents.patches[${index}]`;
    if (type !== "json" && type !== "merge") refuse(`${field}.type`, `"${type}" is not carried out; use json or merge`);
    if (!isJson(patch)) refuse(`${field}.patch`, "is not JSON");
  }
  if (Object.keys(customizeComponents.flags ?? {}).length > 0) {
    refuse("spec.customizeComponents.flags", "is not carried out by this version");
  }
  if (!["", "Always", "IfNotPresent", "Never"].includes(imagePullPolicy)) {
    refuse("spec.imagePullPolicy", `"${imagePullPolicy}" is not a pull policy`);
  }
  return problems;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
