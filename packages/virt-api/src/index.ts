/**
 * Ring 5: virt-api. Admission of our kinds (defaults and validation by the hypervisor layer) and the API group
 * `subresources.kubevirt.io`, which leads to running guests. It must not know argv or the environment, nor how a guest runs.
 *
 * Start with `compose.ts`. `admission/webhooks.ts` is the table of webhooks, `subresources/routes.ts` that of subresources.
 */
export { composeVirtApi, type VirtApi, type VirtApiDeps } from "./compose.ts";
export { errorKinds } from "./errors.ts";
