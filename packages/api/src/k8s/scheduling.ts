import type { KubeObject, ResourceType } from "./meta.ts";

export interface PriorityClass extends KubeObject {
  value: number;
  globalDefault?: boolean;
  description?: string;
  preemptionPolicy?: "PreemptLowerPriority" | "Never";
}

export const priorityClasses: ResourceType<PriorityClass> = {
  group: "scheduling.k8s.io",
  version: "v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  namespaced: false,
};
