/**
 * Ring 4: a virtualization stack that runs machines through libvirt, in a daemon of the launcher's own.
 * `rpc/` speaks libvirt's protocol (its numbers and layouts are the table `rpc/remote-program.ts`); `daemon/` starts the
 * daemon and keeps it; `lifecycle/` decides what its events mean. Must not know Kubernetes, VMIs or other stacks, and
 * loads no library of libvirt's. Start with `lifecycle/libvirt-lifecycle.ts`.
 */
export { createLibvirtStack, type LibvirtStackDependencies } from "./libvirt-stack.ts";
