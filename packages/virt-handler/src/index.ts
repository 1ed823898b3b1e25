/**
 * Ring 5: virt-handler, the agent of one node. It drives the launchers of its node over the Cmd API, listens to what they
 * tell, reports guests to the API server and serves their consoles. It owns a VMI from the hand-over (Scheduled) to its
 * end; guests do not depend on it and survive its restart. Must not know argv, the environment, or other nodes.
 * Start with `instance/plan.ts` (what is decided), then `launcher/launcher-connection.ts` (how launchers are reached).
 */
export { composeVirtHandler, type VirtHandler, type VirtHandlerDeps } from "./compose.ts";
export { errorKinds } from "./errors.ts";
