import {
  isGateEnabled,
  unknownGates,
  type FeatureGateName,
  type KubeVirt,
  type VirtualizationProfile,
} from "@polyvirt/api";

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

interface GatedField {
  readonly field: string;
  readonly gate: FeatureGateName;
  readonly isSet: (kubevirt: KubeVirt) => boolean;
  /** What is wrong with it once the gate is on. */
  readonly check: (kubevirt: KubeVirt, field: string) => ConfigurationProblem[];
}

const gatedFields: readonly GatedField[] = [
  {
    field: "spec.configuration.virtualizationProfile",
    gate: "PluginVirtualizationStacks",
    isSet: ({ spec }) => spec.configuration?.virtualizationProfile !== undefined,
    check: ({ spec }, field) => checkProfile(spec.configuration?.virtualizationProfile ?? {}, field),
  },
  {
    field: "spec.virtHandlerPools",
    gate: "VirtHandlerPools",
    isSet: ({ spec }) => (spec.virtHandlerPools ?? []).length > 0,
    check: (_kubevirt, field) => [notCarriedOut(field)],
  },
];

/** Without its gate a field is as good as absent, which is said and hinders nothing. */
function checkGated(kubevirt: KubeVirt): ConfigurationProblem[] {
  return gatedFields
    .filter(({ isSet }) => isSet(kubevirt))
    .flatMap(({ field, gate, check }) =>
      isGateEnabled(kubevirt.spec.configuration, gate)
        ? check(kubevirt, field)
        : [{ field, message: `has no effect without the feature gate ${gate}`, blocks: false }],
    );
}

function notCarriedOut(field: string): ConfigurationProblem {
  return { field, message: "is not carried out by this version; remove it", blocks: true };
}

/** A device becomes part of a resource's name, so it is one plain name below /dev. */
const devicePath = /^\/dev\/[A-Za-z0-9][A-Za-z0-9_-]*$/;
const capabilityName = /^[A-Z][A-Z0-9_]*$/;

function checkProfile(profile: VirtualizationProfile, path: string): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const refuse = (field: string, message: string): number =>
    problems.push({ field: `${path}.${field}`, message, blocks: true });
  const { hypervisorDevice = "", vCpuRegex = "" } = profile.virtualizationComponents ?? {};
  if (hypervisorDevice !== "" && !devicePath.test(hypervisorDevice)) {
    refuse("virtualizationComponents.hypervisorDevice", `"${hypervisorDevice}" is not a device; write /dev/NAME`);
  }
  if (!isRegularExpression(vCpuRegex)) {
    refuse("virtualizationComponents.vCpuRegex", `"${vCpuRegex}" is not a regular expression`);
  }
  for (const [index, name] of (profile.virtLauncher?.virtLauncherCapabilities ?? []).entries()) {
    if (capabilityName.test(name) && !name.startsWith("CAP_")) continue;
    const field = `virtLauncher.virtLauncherCapabilities[${index}]`;
    refuse(field, `"${name}" is not a capability; write it without CAP_, for example NET_BIND_SERVICE`);
  }
  if (profile.pluginWebhooks !== undefined) problems.push(notCarriedOut(`${path}.pluginWebhooks`));
  return problems;
}

function isRegularExpression(text: string): boolean {
  try {
    void new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
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
