// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { Condition, KubeObject, LabelSelector } from "../k8s/meta.ts";
import type { VirtualMachineInstanceTemplateSpec } from "./virtual-machine.ts";

/** Virtual machine instance replica set. */
export interface VirtualMachineInstanceReplicaSet extends KubeObject {
  /** Spec. */
  spec: VirtualMachineInstanceReplicaSetSpec;
  /** Status. */
  status?: VirtualMachineInstanceReplicaSetStatus;
}

/** Virtual machine instance replica set spec. */
export interface VirtualMachineInstanceReplicaSetSpec {
  /** Paused. */
  paused?: boolean;
  /** Replicas. */
  replicas?: number;
  /** Selector. */
  selector: LabelSelector;
  /** Template. */
  template: VirtualMachineInstanceTemplateSpec;
}

/** Virtual machine instance replica set status. */
export interface VirtualMachineInstanceReplicaSetStatus {
  /** Conditions. */
  conditions?: Condition[];
  /** Label selector. */
  labelSelector?: string;
  /** Ready replicas. */
  readyReplicas?: number;
  /** Replicas. */
  replicas?: number;
}
