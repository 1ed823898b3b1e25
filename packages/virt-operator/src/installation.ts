import { annotations, hypervisorModulesVariable, labels, type ComponentConfig, type KubeVirt } from "@polyvirt/api";
import type { EnvVar, ImagePullPolicy, KubeObject, ObjectMeta, PodSpec } from "@polyvirt/api/k8s";
import { resolveClusterConfig, type HypervisorRegistry } from "@polyvirt/hypervisor";
import { resolveImages, type RoleImages } from "./images.ts";

/** Everything that the objects of an installation depend on, read from the KubeVirt object once. */
export interface Installation {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly version: string;
  readonly registry: string;
  readonly images: RoleImages;
  readonly imagePullPolicy: ImagePullPolicy;
  readonly imagePullSecrets: { name?: string }[];
  readonly infra: ComponentConfig;
  readonly workloads: ComponentConfig;
  readonly aggregateRoles: boolean;
  readonly productLabels: Readonly<Record<string, string>>;
  readonly hypervisorModules: readonly string[];
  /** The launcher that tells what its stack can do on a node. */
  readonly stack: { readonly launcherImage: string; readonly hypervisorDevice: string; readonly virtType: string };
}

interface OperatorFacts {
  readonly version: string;
  readonly images: RoleImages;
  /** Where hypervisors out of tree come from; the roles load the same ones as virt-operator. */
  readonly hypervisorModules?: readonly string[];
  readonly hypervisors: Pick<HypervisorRegistry, "select">;
}

const pullPolicies: readonly string[] = ["Always", "IfNotPresent", "Never"] satisfies ImagePullPolicy[];

export function readInstallation(kubevirt: KubeVirt, operator: OperatorFacts): Installation {
  const { spec, metadata } = kubevirt;
  const { registry, ...images } = resolveImages(operator.images, spec);
  const pullPolicy = spec.imagePullPolicy ?? "IfNotPresent";
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    namespace: metadata.namespace ?? "",
    version: operator.version,
    registry,
    images,
    // The configuration check has refused other values; this only narrows the type.
    imagePullPolicy: pullPolicies.includes(pullPolicy) ? (pullPolicy as ImagePullPolicy) : "IfNotPresent",
    imagePullSecrets: (spec.imagePullSecrets ?? []).map(({ name }) => (name === undefined ? {} : { name })),
    infra: spec.infra ?? {},
    workloads: spec.workloads ?? {},
    hypervisorModules: operator.hypervisorModules ?? [],
    stack: readStack(kubevirt, images.virtLauncher, operator),
    aggregateRoles: spec.configuration?.roleAggregationStrategy !== "Manual",
    productLabels: {
      [labels.component]: spec.productComponent ?? "kubevirt",
      ...(spec.productName === undefined ? {} : { [labels.partOf]: spec.productName }),
      ...(spec.productVersion === undefined ? {} : { [labels.version]: spec.productVersion }),
    },
  };
}

function readStack({ spec }: KubeVirt, image: string, { hypervisors }: OperatorFacts): Installation["stack"] {
  // Which architecture is the default does not matter for the stack.
  const config = resolveClusterConfig(spec.configuration, { hostArchitecture: "amd64" });
  const { hypervisorDevice, virtType } = hypervisors.select(config.hypervisor).node;
  const launcherImage = config.virtualizationProfile?.virtLauncher?.virtLauncherImage || image;
  return { launcherImage, hypervisorDevice, virtType };
}

const managedByValue = "virt-operator";

/** Selects what virt-operator has made. */
export const managedSelector = `${labels.managedBy}=${managedByValue}`;

/** Metadata of an object of the installation: who made it, and for which KubeVirt object. */
export function ownMetadata(installation: Installation, name: string, namespace?: string): ObjectMeta {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...installation.productLabels, [labels.managedBy]: managedByValue },
    annotations: { [annotations.installedBy]: installation.uid },
  };
}

/** Whether this installation made the object: labels can be copied, the UID of its KubeVirt object is the proof. */
export function isOwn(installation: Pick<Installation, "uid">, object: KubeObject): boolean {
  return object.metadata.annotations?.[annotations.installedBy] === installation.uid;
}

/** What a pod must know about its place. */
const downwardEnvironment: EnvVar[] = (
  [
    ["POD_NAME", "metadata.name"],
    ["POD_NAMESPACE", "metadata.namespace"],
    ["POD_IP", "status.podIP"],
    ["NODE_NAME", "spec.nodeName"],
  ] as const
).map(([name, fieldPath]) => ({ name, valueFrom: { fieldRef: { fieldPath } } }));

/** Variables that every role gets. */
export function roleEnvironment({ hypervisorModules }: Pick<Installation, "hypervisorModules">): EnvVar[] {
  if (hypervisorModules.length === 0) return downwardEnvironment;
  return [...downwardEnvironment, { name: hypervisorModulesVariable, value: hypervisorModules.join(",") }];
}

/** Where the pods of a role may run: the object's placement on top of what every role needs. */
export function placement(
  config: ComponentConfig,
): Required<Pick<PodSpec, "nodeSelector" | "tolerations">> & Pick<PodSpec, "affinity"> {
  const { nodePlacement = {} } = config;
  return {
    nodeSelector: { "kubernetes.io/os": "linux", ...nodePlacement.nodeSelector },
    tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }, ...(nodePlacement.tolerations ?? [])],
    ...(nodePlacement.affinity === undefined ? {} : { affinity: nodePlacement.affinity }),
  };
}
