import type { ResourceType } from "./k8s/meta.ts";
import type { KubeVirt } from "./gen/kubevirt.ts";
import type { Plugin } from "./gen/plugin.ts";
import type { VirtualMachineInstanceMigration } from "./gen/migration.ts";
import type { VirtualMachineInstancePreset } from "./gen/preset.ts";
import type { VirtualMachineInstanceReplicaSet } from "./gen/replica-set.ts";
import type { VirtualMachineInstance } from "./gen/virtual-machine-instance.ts";
import type { VirtualMachine } from "./gen/virtual-machine.ts";

/** Where our kinds live in the API, for the client. */
const kubevirt = { group: "kubevirt.io", version: "v1", namespaced: true } as const;

export const kubeVirts: ResourceType<KubeVirt> = { ...kubevirt, kind: "KubeVirt", plural: "kubevirts" };

export const virtualMachines: ResourceType<VirtualMachine> = {
  ...kubevirt,
  kind: "VirtualMachine",
  plural: "virtualmachines",
};

export const virtualMachineInstances: ResourceType<VirtualMachineInstance> = {
  ...kubevirt,
  kind: "VirtualMachineInstance",
  plural: "virtualmachineinstances",
};

export const virtualMachineInstanceReplicaSets: ResourceType<VirtualMachineInstanceReplicaSet> = {
  ...kubevirt,
  kind: "VirtualMachineInstanceReplicaSet",
  plural: "virtualmachineinstancereplicasets",
};

export const virtualMachineInstanceMigrations: ResourceType<VirtualMachineInstanceMigration> = {
  ...kubevirt,
  kind: "VirtualMachineInstanceMigration",
  plural: "virtualmachineinstancemigrations",
};

export const virtualMachineInstancePresets: ResourceType<VirtualMachineInstancePreset> = {
  ...kubevirt,
  kind: "VirtualMachineInstancePreset",
  plural: "virtualmachineinstancepresets",
};

export const plugins: ResourceType<Plugin> = {
  group: "plugin.kubevirt.io",
  version: "v1alpha1",
  namespaced: false,
  kind: "Plugin",
  plural: "plugins",
};

/** The aggregated API of virt-api: start, stop, console and the like. */
export const subresourceGroup = "subresources.kubevirt.io";

/** Its versions, which serve the same; the preferred one first. */
export const subresourceVersions = ["v1", "v1alpha3"] as const;
