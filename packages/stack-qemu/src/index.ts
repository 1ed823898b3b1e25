/**
 * Ring 4: a virtualization stack that starts QEMU itself and talks QMP with it; no daemon in between.
 * `arguments/` turns the machine definition into QEMU's command line, one file for each concept; `qmp/` is the monitor;
 * `lifecycle/` runs the process and decides what its events mean. Must not know Kubernetes, VMIs or other stacks.
 * Start with `arguments/build-arguments.ts`, then `lifecycle/qemu-machine.ts`.
 */
export { createQemuStack, type QemuStackDependencies } from "./qemu-stack.ts";
export { buildArguments, type QemuCommand } from "./arguments/build-arguments.ts";
