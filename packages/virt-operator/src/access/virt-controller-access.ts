import { leaseRules, read, rule, type RoleAccess } from "./rules.ts";

const write = ["create", "update", "patch", "delete"];

/** virt-controller turns machines into instances and instances into pods, wherever users have them. */
export const virtControllerAccess: RoleAccess = {
  serviceAccount: "virt-controller",
  cluster: [
    rule("kubevirt.io", ["kubevirts"], read),
    rule(
      "kubevirt.io",
      [
        "virtualmachines",
        "virtualmachineinstances",
        "virtualmachineinstancereplicasets",
        "virtualmachineinstancemigrations",
      ],
      [...read, ...write],
    ),
    rule(
      "kubevirt.io",
      [
        "virtualmachines/status",
        "virtualmachineinstances/status",
        "virtualmachineinstancereplicasets/status",
        "virtualmachineinstancemigrations/status",
      ],
      ["update", "patch"],
    ),
    // Owner references that block deletion need the right to set finalizers on the owner.
    rule(
      "kubevirt.io",
      [
        "virtualmachines/finalizers",
        "virtualmachineinstances/finalizers",
        "virtualmachineinstancereplicasets/finalizers",
        "virtualmachineinstancemigrations/finalizers",
      ],
      ["update"],
    ),
    rule("plugin.kubevirt.io", ["plugins"], read),
    rule("plugin.kubevirt.io", ["plugins/status"], ["update", "patch"]),
    rule("", ["pods"], [...read, ...write]),
    rule("", ["pods/status", "pods/finalizers"], ["update", "patch"]),
    rule("", ["pods/eviction"], ["create"]),
    rule("", ["events"], ["create", "patch"]),
    rule("", ["nodes", "namespaces", "resourcequotas", "persistentvolumeclaims"], read),
    // For the state of guests that outlives their pods.
    rule("", ["persistentvolumeclaims"], ["create"]),
    rule("storage.k8s.io", ["storageclasses"], ["get"]),
    rule("", ["nodes"], ["patch"]),
    rule("apps", ["controllerrevisions"], [...read, "create", "delete"]),
    rule("policy", ["poddisruptionbudgets"], [...read, ...write]),
  ],
  namespace: leaseRules("virt-controller"),
};
