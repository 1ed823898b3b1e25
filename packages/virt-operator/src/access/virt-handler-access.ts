import { read, rule, type RoleAccess } from "./rules.ts";

/**
 * virt-handler is on every node, so its rights are the ones an attacker on a node gets. It reports on instances and
 * labels nodes; it creates and deletes nothing but events, and sees no secrets. That it touches only objects of its own
 * node is beyond what RBAC can say: an admission policy says it (components/policies.ts).
 */
export const virtHandlerAccess: RoleAccess = {
  serviceAccount: "virt-handler",
  cluster: [
    rule("kubevirt.io", ["kubevirts", "virtualmachineinstancemigrations"], read),
    rule("kubevirt.io", ["virtualmachineinstances"], [...read, "patch", "update"]),
    rule("kubevirt.io", ["virtualmachineinstances/status"], ["patch", "update"]),
    rule("plugin.kubevirt.io", ["plugins"], read),
    rule("", ["nodes"], [...read, "patch"]),
    // A condition that says why guests cannot use the node's hypervisor.
    rule("", ["nodes/status"], ["patch"]),
    rule("", ["events"], ["create", "patch"]),
  ],
  namespace: [],
};
