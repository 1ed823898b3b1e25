// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { KubeObject, LabelSelector } from "../k8s/meta.ts";
import type { DomainSpec } from "./domain.ts";

/** Settings that instances with certain labels get. Use instance types and preferences instead. */
export interface VirtualMachineInstancePreset extends KubeObject {
  /** The settings, and who gets them. */
  spec?: VirtualMachineInstancePresetSpec;
}

/** Settings, and who gets them. */
export interface VirtualMachineInstancePresetSpec {
  /** The settings. */
  domain?: DomainSpec;
  /** Labels of instances that get them. */
  selector: LabelSelector;
}
