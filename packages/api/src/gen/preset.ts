// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { KubeObject, LabelSelector } from "../k8s/meta.ts";
import type { DomainSpec } from "./domain.ts";

/** Virtual machine instance preset. */
export interface VirtualMachineInstancePreset extends KubeObject {
  /** Spec. */
  spec?: VirtualMachineInstancePresetSpec;
}

/** Virtual machine instance preset spec. */
export interface VirtualMachineInstancePresetSpec {
  /** Domain. */
  domain?: DomainSpec;
  /** Selector. */
  selector: LabelSelector;
}
