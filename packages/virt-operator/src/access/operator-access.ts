import type { PolicyRule } from "@polyvirt/api/k8s";
import { leaseRules, read, rule, type RoleAccess } from "./rules.ts";
import { defaultRole, userRoles } from "./user-access.ts";
import { virtApiAccess } from "./virt-api-access.ts";
import { virtControllerAccess } from "./virt-controller-access.ts";
import { virtHandlerAccess } from "./virt-handler-access.ts";

export const roleAccess: readonly RoleAccess[] = [virtApiAccess, virtControllerAccess, virtHandlerAccess];

const manage = [...read, "create", "patch", "update", "delete"];

/** Kubernetes lets nobody grant more than they have, so the operator needs what it gives to others. */
const granted: PolicyRule[] = [
  ...roleAccess.flatMap(({ cluster, namespace }) => [...cluster, ...namespace]),
  ...userRoles.flatMap(({ rules }) => rules),
  ...defaultRole.rules,
];

export const virtOperatorAccess: RoleAccess = {
  serviceAccount: "virt-operator",
  cluster: [
    rule("kubevirt.io", ["kubevirts"], [...read, "patch", "update"]),
    rule("kubevirt.io", ["kubevirts/status", "kubevirts/finalizers"], ["patch", "update"]),
    // To take the workloads away before the roles, when the object says so.
    rule(
      "kubevirt.io",
      ["virtualmachines", "virtualmachineinstances", "virtualmachineinstancereplicasets"],
      ["delete"],
    ),
    rule("apiextensions.k8s.io", ["customresourcedefinitions"], manage),
    rule("rbac.authorization.k8s.io", ["clusterroles", "clusterrolebindings", "roles", "rolebindings"], manage),
    rule("scheduling.k8s.io", ["priorityclasses"], manage),
    rule(
      "admissionregistration.k8s.io",
      [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
      ],
      manage,
    ),
    rule("apiregistration.k8s.io", ["apiservices"], manage),
    ...granted,
  ],
  namespace: [
    rule("", ["serviceaccounts", "services", "secrets", "configmaps"], manage),
    rule("apps", ["deployments", "daemonsets"], manage),
    rule("policy", ["poddisruptionbudgets"], manage),
    ...leaseRules("virt-operator"),
  ],
};
