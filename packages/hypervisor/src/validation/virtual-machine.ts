import type { VirtualMachineInstanceSpec, VirtualMachineSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import type { ClusterConfig } from "../cluster-config.ts";

const runStrategies = ["Always", "Halted", "Manual", "RerunOnFailure", "Once", "WaitAsReceiver"];

type SpecValidation = (field: string, spec: VirtualMachineInstanceSpec, config: ClusterConfig) => StatusCause[];

/** A VM is its run strategy and the template of its instances. */
export function validateVirtualMachine(
  field: string,
  spec: VirtualMachineSpec,
  config: ClusterConfig,
  validateTemplate: SpecValidation,
): StatusCause[] {
  const causes: StatusCause[] = [];
  const invalid = (name: string, message: string): void => {
    causes.push({ reason: "FieldValueInvalid", field: `${field}.${name}`, message });
  };
  const { running, runStrategy } = spec;
  if (running !== undefined && runStrategy !== undefined) {
    invalid(
      "running",
      "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead",
    );
  }
  if (running === undefined && runStrategy === undefined) invalid("runStrategy", "RunStrategy must be specified");
  if (runStrategy !== undefined && !runStrategies.includes(runStrategy))
    invalid("runStrategy", `Invalid RunStrategy (${runStrategy})`);
  const template: VirtualMachineSpec["template"] | undefined = spec.template;
  if (template?.spec === undefined) {
    causes.push({
      reason: "FieldValueRequired",
      field: `${field}.template`,
      message: "missing virtual machine template.",
    });
    return causes;
  }
  return [...causes, ...validateTemplate(`${field}.template.spec`, template.spec, config)];
}
