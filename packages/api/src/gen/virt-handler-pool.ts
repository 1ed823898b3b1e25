// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A group of nodes with a virt-handler, launchers and a hypervisor of its own. The first pool whose selector matches a machine takes it. Needs the gate VirtHandlerPools. */
export interface VirtHandlerPool {
  /** Name of the pool; its DaemonSet is called virt-handler-<name>. */
  name: string;
  /** Image of virt-handler on these nodes, when it is not the common one. */
  virtHandlerImage?: string;
  /** Image of launchers on these nodes, when it is not the common one. */
  virtLauncherImage?: string;
  /** Labels that make a node belong to the pool. */
  nodeSelector: Record<string, string>;
  /** Which machines run in the pool. */
  selector?: VirtHandlerPoolSelector;
  /** Hypervisor of these nodes, when it is not the common one. */
  hypervisor?: string;
}

/** Machines that a pool takes; one match is enough. */
export interface VirtHandlerPoolSelector {
  /** Resource names of GPUs and host devices; a machine that asks for one of them matches. */
  deviceNames?: string[];
  /** Labels of the machine. */
  vmLabels?: VirtHandlerPoolVMLabels;
}

/** Labels that a machine must have. */
export interface VirtHandlerPoolVMLabels {
  /** All of these must be present with these values. */
  matchLabels?: Record<string, string>;
}
