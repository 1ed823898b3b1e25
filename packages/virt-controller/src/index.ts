/**
 * Ring 5: virt-controller turns a VirtualMachineInstance into a launcher pod and looks after both until virt-handler of
 * the pod's node takes over. Must not know argv, the environment, or how a hypervisor works: it asks `hypervisor`.
 * Start with `vmi/plan.ts` (what is decided), then `launcher-pod/render.ts` (what the pod looks like).
 */
export { composeVirtController, type VirtController, type VirtControllerDeps } from "./compose.ts";
export { errorKinds } from "./errors.ts";
export { stackOverheadBytes } from "./launcher-pod/launcher-stack.ts";
