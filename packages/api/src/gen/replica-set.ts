// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Condition, KubeObject, LabelSelector } from "../k8s/meta.ts";
import type { VirtualMachineInstanceTemplateSpec } from "./virtual-machine.ts";

/** A number of equal instances that are replaced when they end. */
export interface VirtualMachineInstanceReplicaSet extends KubeObject {
  /** How many instances, and what they are. */
  spec: VirtualMachineInstanceReplicaSetSpec;
  /** How many instances there are. */
  status?: VirtualMachineInstanceReplicaSetStatus;
}

/** How many instances, and what they are. */
export interface VirtualMachineInstanceReplicaSetSpec {
  /** Make and remove none for now. */
  paused?: boolean;
  /** How many; 1 when unset. */
  replicas?: number;
  /** Labels of instances that count; the template must have them. */
  selector: LabelSelector;
  /** The instances. */
  template: VirtualMachineInstanceTemplateSpec;
}

/** How many instances there are. */
export interface VirtualMachineInstanceReplicaSetStatus {
  /** ReplicaPaused and ReplicaFailure, each with its reason. */
  conditions?: Condition[];
  /** The selector as text, for autoscalers. */
  labelSelector?: string;
  /** How many are ready. */
  readyReplicas?: number;
  /** How many there are. */
  replicas?: number;
}
