import type { VirtualMachineInstance } from "@polyvirt/api";
import { isUnset } from "./step.ts";

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const;

export function setProbes({ spec }: VirtualMachineInstance): void {
  for (const probe of [spec.livenessProbe, spec.readinessProbe]) {
    if (probe === undefined) continue;
    for (const [field, value] of Object.entries(probeDefaults) as [keyof typeof probeDefaults, number][]) {
      if (isUnset(probe[field])) probe[field] = value;
    }
  }
}
