/**
 * Ring 5: virt-operator. It reads the KubeVirt object and installs, updates, repairs and removes everything else: custom
 * resource definitions, rights, certificates, virt-api, virt-controller, virt-handler, webhooks. It must not know how a
 * machine runs, nor argv or the environment.
 *
 * Start with `plan.ts` (which objects, in which order), then `reconcile.ts` (how they come about). `components/` has one
 * file for each thing that is installed, `access/` the rights of each role as tables.
 */
export { composeVirtOperator, type VirtOperator, type VirtOperatorDeps } from "./compose.ts";
export { errorKinds } from "./errors.ts";
export type { RoleImages } from "./images.ts";
export { defaultKubeVirt, defaultNamespace, imageVariables, operatorManifest } from "./manifest.ts";
