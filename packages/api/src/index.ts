/**
 * Ring 1: the kinds of `kubevirt.io` and `plugin.kubevirt.io`, as types, and the names around them. It knows no
 * implementation: nothing here validates, converts or runs a machine.
 *
 * Start with `schema/virtual-machine-instance.yaml`: each concept has one file there, from which `generate/` makes the
 * types in `src/gen/`, the OpenAPI document and the custom resource definitions (`@polyvirt/api/crds`, apart from this
 * module because only virt-operator needs their weight).
 */
export type * from "./gen/types.ts";
export type { IntOrString, Quantity } from "./wire-types.ts";
export * from "./resources.ts";
export * from "./phases.ts";
export * from "./labels.ts";
export { getCondition, isConditionTrue, withCondition, withoutCondition } from "./conditions.ts";
export { featureGates, isGateEnabled, unknownGates, type FeatureGateName } from "./feature-gates.ts";
export {
  certificateMounts,
  handlerClientName,
  handlerPaths,
  launcherCachePath,
  handlerServerName,
  hypervisorModulesVariable,
  ports,
  virtApiService,
} from "./installation.ts";
export { attachmentPod, claimOf, hotplugDiskName, hotplugDisks, isHotpluggable } from "./hotplug.ts";
export { mutatingWebhooks, validatingWebhooks } from "./webhooks.ts";
