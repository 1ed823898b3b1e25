import {
  apiServices,
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  daemonSets,
  deployments,
  mutatingWebhookConfigurations,
  podDisruptionBudgets,
  priorityClasses,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  services,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
  type KubeObject,
  type ResourceType,
} from "@polyvirt/api/k8s";

/**
 * Every kind that virt-operator makes, in the order in which it is taken away: first what calls us, then the roles, then
 * what they needed, and the definitions last because their objects go with them.
 */
export const managedTypes: readonly ResourceType[] = [
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
  validatingAdmissionPolicyBindings,
  validatingAdmissionPolicies,
  apiServices,
  podDisruptionBudgets,
  deployments,
  daemonSets,
  services,
  configMaps,
  secrets,
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  serviceAccounts,
  priorityClasses,
  customResourceDefinitions,
];

const typesByKind = new Map(managedTypes.map((type) => [type.kind, type]));

export function typeOf(object: KubeObject): ResourceType {
  const type = typesByKind.get(object.kind ?? "");
  if (type === undefined) throw new TypeError(`virt-operator does not manage objects of kind ${object.kind}`);
  return type;
}
