/** The VMIs in `testdata/`, and the platforms on which each is converted. */
import type { KubeVirtConfiguration, VirtualMachineInstance } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import type { Domain } from "@polyvirt/domain";
import { parse } from "yaml";
import { registry } from "../builtin.ts";
import { clusterConfig, converterContext, testUuid } from "./fixtures.ts";

/** `emulated`: the hypervisor's device is missing; `foreign`: the node has another architecture. */
export type Acceleration = "accelerated" | "emulated" | "foreign";

interface Sample {
  readonly file: string;
  readonly platform: string;
  readonly how: Acceleration;
}

const everywhere = ["kvm/amd64", "kvm/arm64", "kvm/s390x", "mshv/amd64", "mshv/arm64"];
const onKvm = ["disks", "networks", "desktop", "dedicated", "passthrough", "services", "encrypted"];

export const samples: readonly Sample[] = [
  ...everywhere.map((platform): Sample => ({ file: "minimal", platform, how: "accelerated" })),
  ...everywhere.map((platform): Sample => ({ file: "kernel-boot", platform, how: "accelerated" })),
  ...onKvm.map((file): Sample => ({ file, platform: "kvm/amd64", how: "accelerated" })),
  { file: "kernel-boot", platform: "kvm/amd64", how: "emulated" },
  { file: "kernel-boot", platform: "mshv/amd64", how: "emulated" },
  { file: "arm64", platform: "kvm/arm64", how: "accelerated" },
  { file: "arm64", platform: "kvm/arm64", how: "foreign" },
  { file: "s390x", platform: "kvm/s390x", how: "accelerated" },
  { file: "s390x", platform: "kvm/s390x", how: "foreign" },
];

const everyGate: KubeVirtConfiguration = {
  developerConfiguration: {
    useEmulation: true,
    featureGates: [
      "DownwardMetrics",
      "HostDevices",
      "HostDisk",
      "MultiArchitectureSoftwareEmulation",
      "PanicDevices",
      "PasstBinding",
      "PersistentReservation",
      "RebootPolicy",
      "VSOCK",
      "VideoConfig",
      "WorkloadEncryptionSEV",
      "WorkloadEncryptionTDX",
      "EnableVirtioFsConfigVolumes",
      "EnableVirtioFsStorageVolumes",
    ],
  },
};

interface Converted {
  readonly vmi: VirtualMachineInstance;
  readonly causes: StatusCause[];
  readonly domain: Domain;
}

/** Defaults and validation, as admission does them, and what the launcher would do afterwards. */
export function admitInstance(vmi: VirtualMachineInstance, { platform, how }: Omit<Sample, "file">) {
  const { hypervisor, architecture } = registry.platform(platform);
  const config = clusterConfig(everyGate);
  const draft = { ...vmi, spec: { ...vmi.spec, architecture } };
  const complete = hypervisor.defaults.applyToInstance(draft, { config, randomUuid: () => testUuid });
  const causes = hypervisor.validator.validateVirtualMachineInstanceSpec("spec", complete.spec, config);
  const convert = (): Domain => {
    const context = converterContext(complete, {
      accelerated: how !== "emulated",
      hostArchitecture: how !== "foreign" ? architecture : architecture === "amd64" ? "arm64" : "amd64",
    });
    return hypervisor.converter.convert(complete, context);
  };
  return { vmi: complete, causes, convert };
}

export function convertInstance(vmi: VirtualMachineInstance, sample: Omit<Sample, "file">): Converted {
  const { convert, ...admitted } = admitInstance(vmi, sample);
  return { ...admitted, domain: convert() };
}

/** `readText` is given because this package itself reads no files. */
export function convertSample(sample: Sample, readText: (file: URL) => string): Converted {
  const text = readText(new URL(`../testdata/${sample.file}.yaml`, import.meta.url));
  // The files are ours; a wrong one fails its tests.
  const vmi = parse(text) as VirtualMachineInstance;
  return convertInstance(
    { ...vmi, metadata: { name: "testvmi", namespace: "default", uid: "11111111-2222-3333-4444-555555555555" } },
    sample,
  );
}
