import type { Condition, Node, NodeStatus, ResourceList } from "@polyvirt/api/k8s";
import type { MachineFacts } from "@polyvirt/host";
import { rfc3339 } from "./pod-status.ts";

export interface NodeDescription {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly facts: MachineFacts;
  readonly version: string;
  readonly maxPods: number;
  /** What the machine offers to all nodes on it is divided among them. */
  readonly shares: number;
  readonly labels: Readonly<Record<string, string>>;
  /** What separates containers on other nodes and does not on this one. */
  readonly isolationGaps: readonly string[];
  readonly network: { readonly prefix: string; readonly sharedBecause: string | undefined };
  /** Extended resources: name → how many there are and how many are healthy. */
  readonly devices: ReadonlyMap<string, { readonly capacity: number; readonly allocatable: number }>;
}

/** What the kubelet registers; labels and taints that others added are theirs. */
export function nodeObject(description: NodeDescription): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: description.name, labels: nodeLabels(description) },
    spec: { providerID: `polyvirt://${description.name}` },
  };
}

export function nodeLabels({ name, facts, labels }: NodeDescription): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": facts.architecture,
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": facts.architecture,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    ...labels,
  };
}

export function nodeStatus(
  description: NodeDescription,
  before: NodeStatus | undefined,
  now: number,
  notReady?: { reason: string; message: string },
): NodeStatus {
  const { facts, address, port, version, name } = description;
  return {
    capacity: resources(description, "capacity"),
    allocatable: resources(description, "allocatable"),
    conditions: nodeConditions(description, before?.conditions, now, notReady),
    addresses: [
      { type: "InternalIP", address },
      { type: "Hostname", address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
    nodeInfo: {
      machineID: facts.machineId,
      systemUUID: facts.machineId,
      bootID: facts.bootId,
      kernelVersion: facts.kernelVersion,
      osImage: facts.osImage,
      containerRuntimeVersion: `polyvirt://${version}`,
      kubeletVersion: version,
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: facts.architecture,
    },
  };
}

function resources(description: NodeDescription, kind: "capacity" | "allocatable"): ResourceList {
  const { facts, shares, maxPods, devices } = description;
  return {
    cpu: `${Math.floor((facts.cpus * 1000) / shares)}m`.replace(/000m$/, ""),
    memory: `${Math.floor(facts.memoryBytes / shares / 1024)}Ki`,
    "ephemeral-storage": `${Math.floor(facts.diskBytes / shares / 1024)}Ki`,
    pods: String(maxPods),
    ...Object.fromEntries([...devices].map(([name, amounts]) => [name, String(amounts[kind])])),
  };
}

/** Pods are connected in either way; which one it is and why matters to whoever wonders about their addresses. */
function isolationCondition({
  isolationGaps,
}: NodeDescription): Pick<Condition, "type" | "status" | "reason" | "message"> {
  return isolationGaps.length === 0
    ? {
        type: "ReducedIsolation",
        status: "False",
        reason: "KubeletIsRoot",
        message: "containers have own mounts, processes, users and limits",
      }
    : { type: "ReducedIsolation", status: "True", reason: "MissingRights", message: isolationGaps.join("; ") };
}

function networkCondition({ network }: NodeDescription): Pick<Condition, "type" | "status" | "reason" | "message"> {
  const range = `${network.prefix}.0.0/16`;
  return {
    type: "NetworkUnavailable",
    status: "False",
    ...(network.sharedBecause === undefined
      ? { reason: "PodNetworkReady", message: `each pod has a network namespace of its own in ${range}` }
      : {
          reason: "PodsShareMachineNetwork",
          message: `pods share the machine's network with addresses in ${range}: ${network.sharedBecause}`,
        }),
  };
}

function nodeConditions(
  description: NodeDescription,
  before: readonly Condition[] | undefined,
  now: number,
  notReady: { reason: string; message: string } | undefined,
): Condition[] {
  const facts: Pick<Condition, "type" | "status" | "reason" | "message">[] = [
    {
      type: "MemoryPressure",
      status: "False",
      reason: "KubeletHasSufficientMemory",
      message: "kubelet has sufficient memory available",
    },
    {
      type: "DiskPressure",
      status: "False",
      reason: "KubeletHasNoDiskPressure",
      message: "kubelet has no disk pressure",
    },
    {
      type: "PIDPressure",
      status: "False",
      reason: "KubeletHasSufficientPID",
      message: "kubelet has sufficient PID available",
    },
    networkCondition(description),
    isolationCondition(description),
    notReady === undefined
      ? { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" }
      : { type: "Ready", status: "False", ...notReady },
  ];
  return facts.map((fact) => {
    const old = before?.find(({ type }) => type === fact.type);
    const kept = old?.status === fact.status ? old.lastTransitionTime : undefined;
    // Kubernetes' node conditions carry a heartbeat beside the usual fields.
    return { ...fact, lastHeartbeatTime: rfc3339(now), lastTransitionTime: kept ?? rfc3339(now) } as Condition;
  });
}
