import { nodeLabels, type VirtualMachineInstance } from "@polyvirt/api";
import type { ClusterConfig } from "@polyvirt/hypervisor";

type Spec = VirtualMachineInstance["spec"];
type Hyperv = NonNullable<NonNullable<Spec["domain"]["features"]>["hyperv"]>;

/** What only some nodes have, by label, and which guests need it. */
const features: readonly { readonly label: string; readonly needs: (spec: Spec) => boolean }[] = [
  { label: nodeLabels.realtime, needs: ({ domain }) => domain.cpu?.realtime !== undefined },
  { label: nodeLabels.sev, needs: ({ domain }) => domain.launchSecurity?.sev !== undefined },
  { label: nodeLabels.sevEs, needs: ({ domain }) => domain.launchSecurity?.sev?.policy?.encryptedState === true },
  { label: nodeLabels.sevSnp, needs: ({ domain }) => domain.launchSecurity?.snp !== undefined },
  { label: nodeLabels.tdx, needs: ({ domain }) => domain.launchSecurity?.tdx !== undefined },
];

/** Enlightenments that the kernel must offer; the others are the VMM's own. */
const hypervFeatures = [
  "vpindex",
  "runtime",
  "reset",
  "synic",
  "synictimer",
  "frequencies",
  "reenlightenment",
  "tlbflush",
  "ipi",
] as const satisfies readonly (keyof Hyperv)[];

/** Node labels that this guest needs besides its CPU's. */
export function featureSelector({ spec }: VirtualMachineInstance, config: ClusterConfig): Record<string, string> {
  const names = [
    ...features.filter(({ needs }) => needs(spec)).map(({ label }) => label),
    ...machineLabels(spec, config),
    ...(config.isEnabled("HypervStrictCheck") && !config.useEmulation ? hypervLabels(spec) : []),
  ];
  return Object.fromEntries(names.map((name) => [name, "true"]));
}

/** A name without a version exists in every VMM; versions come and go. */
function machineLabels({ domain, architecture }: Spec, config: ClusterConfig): string[] {
  const type = domain.machine?.type ?? "";
  const aliases: readonly string[] = ["", "q35", "pc", "virt", "s390-ccw-virtio"];
  const usual = Object.entries(config.machines).find(([name]) => name === architecture)?.[1].machineType;
  return aliases.includes(type) || type === usual ? [] : [`${nodeLabels.machineTypePrefix}${type}`];
}

function hypervLabels({ domain }: Spec): string[] {
  const hyperv = domain.features?.hyperv ?? {};
  const wanted = hypervFeatures.filter((name) => hyperv[name] !== undefined && hyperv[name].enabled !== false);
  const evmcs = hyperv.evmcs !== undefined && hyperv.evmcs.enabled !== false;
  return [
    ...wanted.map((name) => `${nodeLabels.hypervPrefix}${name}`),
    // Nested enlightened control structures are Intel's.
    ...(evmcs ? [`${nodeLabels.cpuVendorPrefix}Intel`] : []),
  ];
}
