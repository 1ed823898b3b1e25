/**
 * Ring 5: one per VM. Serves the Cmd API to the node agent, turns the VMI into a machine, runs it on one stack, reports
 * what becomes of it, and ends with it. Must not know argv, environment or the Kubernetes API, nor which stack it has.
 * Start with `compose.ts`, then `machine/machine.ts` (VMI to running guest) and `supervise/supervisor.ts` (its end).
 */
export { composeVirtLauncher, type LauncherDependencies, type VirtLauncher } from "./compose.ts";
export type { LauncherOptions, VmiIdentity } from "./launcher-options.ts";
export { podPaths, type LauncherPaths } from "./launcher-paths.ts";
export type { DomainHooks, HookRequest } from "./machine/domain-hooks.ts";
export type { Ending } from "./supervise/supervisor.ts";
export { errorKinds } from "./errors.ts";
