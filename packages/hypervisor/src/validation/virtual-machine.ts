import type { InstancetypeMatcher, VirtualMachineInstanceSpec, VirtualMachineSpec } from "@polyvirt/api";
import type { StatusCause } from "@polyvirt/api/k8s";
import type { ClusterConfig } from "../cluster-config.ts";

const runStrategies = ["Always", "Halted", "Manual", "RerunOnFailure", "Once", "WaitAsReceiver"];

const matcherKinds = {
  instancetype: ["virtualmachineinstancetype", "virtualmachineclusterinstancetype"],
  preference: ["virtualmachinepreference", "virtualmachineclusterpreference"],
} as const;

const titles = { instancetype: "instance types", preference: "preferences" } as const;

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
  causes.push(...checkMatchers(field, spec));
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

/** Sizes and settings that a VM takes from other objects. Their shape is checked; nothing serves such objects yet. */
function checkMatchers(field: string, spec: VirtualMachineSpec): StatusCause[] {
  return (["instancetype", "preference"] as const).flatMap((matcher) => {
    const given: InstancetypeMatcher | undefined = spec[matcher];
    if (given === undefined) return [];
    const at = `${field}.${matcher}`;
    const { name, inferFromVolume, inferFromVolumeFailurePolicy: policy, kind } = given;
    const kinds: readonly string[] = matcherKinds[matcher];
    const rules = [
      {
        broken: !name && !inferFromVolume,
        field: at,
        message: `Either Name or InferFromVolume should be provided within the ${matcher} matcher`,
      },
      {
        broken: Boolean(name && inferFromVolume),
        field: `${at}.name`,
        message: `Name should not be provided when InferFromVolume is used within the ${matcher} matcher`,
      },
      {
        broken: Boolean(kind && inferFromVolume),
        field: `${at}.kind`,
        message: `Kind should not be provided when InferFromVolume is used within the ${matcher} matcher`,
      },
      {
        broken: Boolean(policy && policy !== "Reject" && policy !== "Ignore"),
        field: `${at}.inferFromVolumeFailurePolicy`,
        message: `Invalid value '${policy}' for InferFromVolumeFailurePolicy (allowed values: [Reject Ignore])`,
      },
      {
        broken: Boolean(kind && !kinds.includes(kind.toLowerCase())),
        field: `${at}.kind`,
        message: `Invalid value '${kind}' for Kind (allowed values: [${kinds.join(" ")}])`,
      },
      { broken: true, field: at, message: `${at}: ${titles[matcher]} are not served by this version` },
    ];
    return rules
      .filter(({ broken }) => broken)
      .map((rule) => ({ reason: "FieldValueNotFound", field: rule.field, message: rule.message }));
  });
}
