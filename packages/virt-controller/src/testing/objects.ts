/** Objects for this package's tests. */
import { finalizers, type VirtualMachineInstance } from "@polyvirt/api";
import type { ContainerState, Pod } from "@polyvirt/api/k8s";
import { registry, resolveClusterConfig, type ClusterConfig } from "@polyvirt/hypervisor";
import type { LauncherPodContext } from "../launcher-pod/context.ts";
import type { PossiblePlacement } from "../placement/placement.ts";

export const NOW = new Date("2026-01-01T12:00:00Z");
export const VMI_UID = "11111111-2222-3333-4444-555555555555";

type Status = NonNullable<VirtualMachineInstance["status"]>;

export function vmiWith(
  status: Status = { phase: "Pending" },
  metadata: Partial<VirtualMachineInstance["metadata"]> = {},
): VirtualMachineInstance {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: {
      name: "hello",
      namespace: "default",
      uid: VMI_UID,
      resourceVersion: "7",
      finalizers: [finalizers.virtualMachineInstance],
      ...metadata,
    },
    spec: {
      architecture: "amd64",
      domain: { cpu: { sockets: 1, cores: 1, threads: 1 }, memory: { guest: "128Mi" }, devices: {} },
    },
    status,
  };
}

interface PodChange {
  readonly phase?: NonNullable<Pod["status"]>["phase"];
  readonly state?: ContainerState;
  readonly ready?: boolean;
  readonly conditions?: NonNullable<Pod["status"]>["conditions"];
  readonly metadata?: Pod["metadata"];
}

export function podWith({ phase = "Pending", state, ready = false, conditions = [], metadata }: PodChange = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "virt-launcher-hello-abcde",
      namespace: "default",
      uid: "pod-uid",
      ownerReferences: [
        { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name: "hello", uid: VMI_UID, controller: true },
      ],
      ...metadata,
    },
    spec: { nodeName: "node-1", containers: [{ name: "compute", image: "launcher:1" }] },
    status: {
      phase,
      conditions,
      qosClass: "Burstable",
      containerStatuses: [
        {
          name: "compute",
          ready,
          restartCount: 0,
          image: "launcher:1",
          imageID: "",
          ...(state === undefined ? {} : { state }),
        },
      ],
    },
  };
}

export const terminating = { deletionTimestamp: "2026-01-01T11:59:59Z" };

export function podContext(
  configuration: Parameters<typeof resolveClusterConfig>[0] = { developerConfiguration: { useEmulation: true } },
): LauncherPodContext & { config: ClusterConfig } {
  const config = resolveClusterConfig(configuration, { hostArchitecture: "amd64" });
  return {
    hypervisorModules: [],
    launcherImage: "polyvirt.local/virt-launcher-qemu:0.1.0",
    config,
    hypervisor: registry.get("kvm"),
    claims: new Map(),
    placement: { mode: "native", candidates: [] },
  };
}

/** Nodes of these architectures, all of which offer KVM. */
export function placementOn(
  architectures: readonly string[],
  mode: PossiblePlacement["mode"] = "native",
): PossiblePlacement {
  const allocatable = { "devices.kubevirt.io/kvm": "1k" };
  return { mode, candidates: architectures.map((name) => ({ labels: { "kubernetes.io/arch": name }, allocatable })) };
}
