import type { VirtualMachineInstanceSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import type { Hypervisor } from "@polyvirt/hypervisor";
import type { AdmissionContext } from "./admission.ts";

interface Choice {
  readonly hypervisor?: Hypervisor;
  readonly causes: StatusCause[];
}

/** The hypervisor that this VMI runs on: the cluster's, which the VMI may name but not change. */
export function chooseHypervisor(
  spec: VirtualMachineInstanceSpec,
  { hypervisors, config }: Pick<AdmissionContext, "hypervisors" | "config">,
  field = "spec",
): Choice {
  const refuse = (reason: string, message: string): Choice => ({
    causes: [{ reason, field: `${field}.hypervisor`, message }],
  });
  if (!hypervisors.has(config.hypervisor.name)) {
    return refuse(
      "FieldValueNotSupported",
      `the cluster is configured for hypervisor ${config.hypervisor.name}, which is not known here (known: ${hypervisors.names().join(", ")})`,
    );
  }
  const hypervisor = hypervisors.select(config.hypervisor);
  const wanted = spec.hypervisor;
  if (wanted === undefined || wanted === "" || [hypervisor.name, ...hypervisor.aliases].includes(wanted)) {
    return { hypervisor, causes: [] };
  }
  return refuse(
    "FieldValueNotSupported",
    `hypervisor ${wanted} is not offered by this cluster (allowed values: [${hypervisor.name}])`,
  );
}
