import { nodeLabels, type VirtualMachineInstance } from "@polyvirt/api";
import type { Affinity, NodeSelectorRequirement, PodSpec } from "@polyvirt/api/k8s";
import { architectureSelector, nativePreference } from "../placement/placement.ts";
import type { LauncherPodContext } from "./context.ts";
import { featureSelector } from "./node-features.ts";

/** CPU models that follow the node, so that no node can be asked for them by name. */
const hostModels: readonly string[] = ["", "host-model", "host-passthrough"];

/** Which nodes can run this guest. */
export function nodeConstraints(
  vmi: VirtualMachineInstance,
  context: LauncherPodContext,
): Required<Pick<PodSpec, "nodeSelector">> & Pick<PodSpec, "affinity" | "tolerations" | "topologySpreadConstraints"> {
  const affinity = affinityOf(vmi, context);
  return {
    nodeSelector: {
      [nodeLabels.schedulable]: "true",
      ...architectureSelector(context.placement, architectureOf(vmi, context)),
      ...(vmi.spec.domain.cpu?.dedicatedCpuPlacement === true ? { [nodeLabels.cpuManager]: "true" } : {}),
      ...cpuSelector(vmi, context),
      ...featureSelector(vmi, context.config),
      ...vmi.spec.nodeSelector,
    },
    ...(affinity === undefined ? {} : { affinity }),
    ...(vmi.spec.tolerations === undefined ? {} : { tolerations: vmi.spec.tolerations }),
    ...(vmi.spec.topologySpreadConstraints === undefined
      ? {}
      : { topologySpreadConstraints: vmi.spec.topologySpreadConstraints }),
  };
}

function architectureOf(vmi: VirtualMachineInstance, { config }: LauncherPodContext): string {
  return vmi.spec.architecture ?? config.defaultArchitecture;
}

/** Software emulation can show the guest any CPU, so the node's own does not matter then. */
function cpuSelector(vmi: VirtualMachineInstance, { config }: LauncherPodContext): Record<string, string> {
  if (config.useEmulation) return {};
  const { model = "", features = [] } = vmi.spec.domain.cpu ?? {};
  const required = features.filter(({ policy }) => policy === undefined || policy === "require");
  return {
    ...(hostModels.includes(model) ? {} : { [`${nodeLabels.cpuModelPrefix}${model}`]: "true" }),
    ...Object.fromEntries(required.map(({ name }) => [`${nodeLabels.cpuFeaturePrefix}${name}`, "true"])),
  };
}

function preferNative(affinity: Affinity | undefined, architecture: string): Affinity {
  const preferred = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    ...affinity,
    nodeAffinity: {
      ...affinity?.nodeAffinity,
      preferredDuringSchedulingIgnoredDuringExecution: [...preferred, nativePreference(architecture)],
    },
  };
}

/** Adds our own exclusions to each alternative that the VMI names; alternatives are ORed, so each needs them. */
function affinityOf(vmi: VirtualMachineInstance, context: LauncherPodContext): Affinity | undefined {
  if (context.placement.mode === "emulated") return preferNative(vmi.spec.affinity, architectureOf(vmi, context));
  const extra = context.config.useEmulation ? [] : exclusions(vmi);
  if (extra.length === 0) return vmi.spec.affinity;
  const required = vmi.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [{}];
  return {
    ...vmi.spec.affinity,
    nodeAffinity: {
      ...vmi.spec.affinity?.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((term) => ({
          ...term,
          matchExpressions: [...(term.matchExpressions ?? []), ...extra],
        })),
      },
    },
  };
}

function exclusions(vmi: VirtualMachineInstance): NodeSelectorRequirement[] {
  const { model = "", features = [] } = vmi.spec.domain.cpu ?? {};
  const without = (key: string): NodeSelectorRequirement => ({ key, operator: "DoesNotExist" });
  return [
    ...(model === "" || model === "host-model" ? [without(nodeLabels.obsoleteHostModel)] : []),
    ...features
      .filter(({ policy }) => policy === "forbid")
      .map(({ name }) => without(`${nodeLabels.cpuFeaturePrefix}${name}`)),
  ];
}
