/** One admission webhook of virt-api. virt-operator registers the table, virt-api serves its paths. */
interface WebhookRow {
  readonly name: string;
  readonly path: string;
  readonly operations: readonly ("CREATE" | "UPDATE" | "DELETE")[];
  readonly group: string;
  readonly versions: readonly string[];
  readonly resources: readonly string[];
  /** Let requests through when virt-api does not answer: for what is needed to get it going again. */
  readonly optional?: boolean;
}

const kubevirt = { group: "kubevirt.io", versions: ["v1", "v1alpha3"] } as const;

export const mutatingWebhooks = [
  {
    name: "virtualmachineinstances-mutator.kubevirt.io",
    path: "/virtualmachineinstances-mutate",
    operations: ["CREATE", "UPDATE"],
    ...kubevirt,
    resources: ["virtualmachineinstances"],
  },
] as const satisfies readonly WebhookRow[];

export const validatingWebhooks = [
  {
    name: "virtualmachineinstances-create-validator.kubevirt.io",
    path: "/virtualmachineinstances-validate-create",
    operations: ["CREATE"],
    ...kubevirt,
    resources: ["virtualmachineinstances"],
  },
  {
    name: "virtualmachineinstances-update-validator.kubevirt.io",
    path: "/virtualmachineinstances-validate-update",
    operations: ["UPDATE"],
    ...kubevirt,
    resources: ["virtualmachineinstances"],
  },
  {
    name: "kubevirt-validator.kubevirt.io",
    path: "/kubevirt-validate",
    operations: ["CREATE", "UPDATE"],
    ...kubevirt,
    resources: ["kubevirts"],
    optional: true,
  },
  {
    name: "virtualmachine-validator.kubevirt.io",
    path: "/virtualmachines-validate",
    operations: ["CREATE"],
    ...kubevirt,
    resources: ["virtualmachines"],
  },
  {
    name: "virtualmachinereplicaset-validator.kubevirt.io",
    path: "/virtualmachinereplicaset-validate",
    operations: ["CREATE"],
    ...kubevirt,
    resources: ["virtualmachineinstancereplicasets"],
  },
  {
    name: "virtualmachinepreset-validator.kubevirt.io",
    path: "/vmipreset-validate",
    operations: ["CREATE", "UPDATE"],
    ...kubevirt,
    resources: ["virtualmachineinstancepresets"],
  },
  {
    name: "migration-create-validator.kubevirt.io",
    path: "/migration-validate-create",
    operations: ["CREATE"],
    ...kubevirt,
    resources: ["virtualmachineinstancemigrations"],
  },
  {
    name: "plugin-validator.plugin.kubevirt.io",
    path: "/plugin-validate",
    operations: ["CREATE"],
    group: "plugin.kubevirt.io",
    versions: ["v1alpha1"],
    resources: ["plugins"],
  },
] as const satisfies readonly WebhookRow[];
