/**
 * QEMU lists everything that a CPU of the architecture can be told, under all names that were ever given to it. Node labels
 * and definitions use libvirt's names, one for each feature.
 */
interface FeatureNames {
  /** QEMU's names that differ from libvirt's. */
  readonly renamed: Readonly<Record<string, string>>;
  /** What can be told to a CPU and is no feature of it. */
  readonly settings: readonly RegExp[];
}

const names: Readonly<Record<string, FeatureNames>> = {
  amd64: {
    renamed: {
      "cmp-legacy": "cmp_legacy",
      "ds-cpl": "ds_cpl",
      ffxsr: "fxsr_opt",
      "fxsr-opt": "fxsr_opt",
      i64: "lm",
      "lahf-lm": "lahf_lm",
      "nodeid-msr": "nodeid_msr",
      pclmulqdq: "pclmuldq",
      "perfctr-core": "perfctr_core",
      "perfctr-nb": "perfctr_nb",
      sse3: "pni",
      "sse4-1": "sse4.1",
      sse4_1: "sse4.1",
      "sse4-2": "sse4.2",
      sse4_2: "sse4.2",
      "svm-lock": "svm_lock",
      "tsc-adjust": "tsc_adjust",
      "tsc-scale": "tsc_scale",
      "vmcb-clean": "vmcb_clean",
      xd: "nx",
    },
    settings: [
      /^x-/,
      /^hv-/,
      // What KVM offers its guests beside their CPU.
      /^kvm[-_]/,
      /^kvmclock/,
      /^(check|enforce|fill-mtrr-mask|full-cpuid-auto-level|host-phys-bits|host-cache-info|l3-cache|legacy-cache)$/,
      /^(kvm|lmce|migratable|pmu|cpuid|cpuid-0xb|tcg-cpuid|vmware-cpuid-freq|realized|start-powered-off)$/,
    ],
  },
  s390x: { renamed: {}, settings: [/^(static|realized|start-powered-off)$/] },
  // What a 64-bit Arm CPU can be told is about sizes and emulation; libvirt and KubeVirt name no features there.
  arm64: { renamed: {}, settings: [/./] },
};

/** The features among the properties that are switched on, sorted. */
export function featureNames(architecture: string, properties: Readonly<Record<string, unknown>>): string[] {
  const { renamed = {}, settings = [] } = names[architecture] ?? {};
  const features = Object.entries(properties)
    .filter(([name, value]) => value === true && /^[a-z0-9][a-z0-9._-]*$/.test(name))
    .filter(([name]) => !settings.some((pattern) => pattern.test(name)))
    .map(([name]) => renamed[name] ?? name);
  return [...new Set(features)].toSorted();
}

/** What QEMU lists beside the named models of a PC: stand-ins for "what there is", which have modes of their own. */
const standIns: Readonly<Record<string, readonly string[]>> = { amd64: ["base", "host", "max"] };

export function isNamedModel(architecture: string, model: string): boolean {
  return !(standIns[architecture] ?? []).includes(model);
}
