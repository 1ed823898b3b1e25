import { read, rule, type RoleAccess } from "./rules.ts";

/** virt-api judges objects and passes commands on; it creates migrations and stops machines on a user's behalf. */
export const virtApiAccess: RoleAccess = {
  serviceAccount: "virt-api",
  cluster: [
    rule("kubevirt.io", ["kubevirts", "virtualmachineinstancepresets"], read),
    rule("kubevirt.io", ["virtualmachines", "virtualmachineinstances"], [...read, "patch"]),
    rule("kubevirt.io", ["virtualmachines/status", "virtualmachineinstances/status"], ["patch"]),
    rule("kubevirt.io", ["virtualmachineinstances"], ["delete"]),
    rule("kubevirt.io", ["virtualmachineinstancemigrations"], [...read, "create"]),
    rule("plugin.kubevirt.io", ["plugins"], read),
    rule("", ["namespaces", "persistentvolumeclaims"], read),
    rule("", ["events"], ["create", "patch"]),
    rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
    rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
    // How the API server proves that a forwarded request comes from it.
    {
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: ["extension-apiserver-authentication"],
      verbs: [...read],
    },
  ],
  // To find the virt-handler of a node.
  namespace: [rule("", ["pods"], read)],
};
