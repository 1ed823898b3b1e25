import type {
  RuleWithOperations,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "@polyvirt/api/k8s";
import { ownMetadata, type Installation } from "../installation.ts";

/** One rule of who may do what, which the API server itself upholds: without virt-api, and for subresources too. */
interface Policy {
  readonly name: string;
  readonly resources: readonly RuleWithOperations[];
  /** All must hold for the policy to apply. `account` names a service account of this installation. */
  readonly conditions: (account: (name: string) => string) => Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly validations: readonly { readonly expression: string; readonly messageExpression: string }[];
}

const nodeClaim = "authentication.kubernetes.io/node-name";
const isOn = (path: string): string => {
  const fields = path.split(".");
  // CEL fails on what is absent, so every step is asked for.
  const present = fields.map((_, index) => `has(oldObject.${fields.slice(0, index + 1).join(".")})`);
  return `(${present.join(" && ")} && oldObject.${path} == variables.node)`;
};

const policies: readonly Policy[] = [
  {
    // A node agent that was taken over must not reach other nodes or their guests. Its token says where it runs.
    name: "kubevirt-node-restriction",
    resources: [
      {
        operations: ["CREATE", "UPDATE", "DELETE"],
        apiGroups: ["kubevirt.io"],
        apiVersions: ["*"],
        resources: ["virtualmachineinstances", "virtualmachineinstances/*"],
      },
      { operations: ["UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["nodes", "nodes/status"] },
    ],
    conditions: (account) => ({ "by-node-agent": `request.userInfo.username == "${account("virt-handler")}"` }),
    variables: {
      node: `has(request.userInfo.extra) && "${nodeClaim}" in request.userInfo.extra ? request.userInfo.extra["${nodeClaim}"][0] : ""`,
    },
    validations: [
      {
        expression: `variables.node != ""`,
        messageExpression: `"the token of this virt-handler names no node: it must be the one that the kubelet gave to its pod"`,
      },
      {
        expression: `request.resource.resource != "nodes" || request.name == variables.node`,
        messageExpression: `"virt-handler of node " + variables.node + " may only change its own node, not " + request.name`,
      },
      {
        expression: `request.resource.resource != "virtualmachineinstances" || (request.operation == "UPDATE" && (${[
          isOn("status.nodeName"),
          isOn("status.migrationState.targetNode"),
          isOn("status.migrationState.sourceNode"),
        ].join(" || ")}))`,
        messageExpression: `"virt-handler of node " + variables.node + " may only change the VMIs of its own node, which " + request.namespace + "/" + request.name + " is not"`,
      },
    ],
  },
  {
    // Whose pod it is decides whose guest runs in it. Labels prove nothing, so the owner must not be forged either.
    name: "kubevirt-launcher-pods",
    resources: [{ operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    conditions: (account) => ({
      "not-by-controller": `request.userInfo.username != "${account("virt-controller")}"`,
      "claims-to-be-a-launcher": `has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(owner, owner.kind == "VirtualMachineInstance" && has(owner.controller) && owner.controller)`,
    }),
    validations: [
      {
        expression: `request.operation == "UPDATE" && has(oldObject.metadata.ownerReferences) && object.metadata.ownerReferences.all(owner, owner.kind != "VirtualMachineInstance" || oldObject.metadata.ownerReferences.exists(old, old.uid == owner.uid))`,
        messageExpression: `"only virt-controller makes pods that belong to a VirtualMachineInstance"`,
      },
    ],
  },
];

export function admissionPolicies(
  installation: Installation,
): (ValidatingAdmissionPolicy | ValidatingAdmissionPolicyBinding)[] {
  const account = (name: string): string => `system:serviceaccount:${installation.namespace}:${name}`;
  const named = (expressions: Readonly<Record<string, string>>) =>
    Object.entries(expressions).map(([name, expression]) => ({ name, expression }));
  return policies.flatMap(({ name, resources, conditions, variables = {}, validations }) => [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: ownMetadata(installation, name),
      spec: {
        failurePolicy: "Fail",
        matchConstraints: { matchPolicy: "Equivalent", resourceRules: [...resources] },
        matchConditions: named(conditions(account)),
        variables: named(variables),
        validations: validations.map((validation) => ({ ...validation, reason: "Forbidden" })),
      },
    },
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: ownMetadata(installation, name),
      spec: { policyName: name, validationActions: ["Deny"] },
    },
  ]);
}
