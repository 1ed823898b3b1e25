// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { RuleWithOperations } from "../k8s/admissionregistration.ts";
import type { Quantity } from "../wire-types.ts";

/** The virtualization stack of this installation, which launcher runs it and which webhooks judge its machines. Needs the gate PluginVirtualizationStacks. */
export interface VirtualizationProfile {
  /** Name of the profile, for example libvirt-qemu-kvm. */
  name?: string;
  /** Processes and devices of the stack, for what looks at them from outside. */
  virtualizationComponents?: VirtualizationComponents;
  /** The launcher that speaks for the stack. */
  virtLauncher?: VirtLauncherProfile;
  /** Webhooks that take over admission from our own. */
  pluginWebhooks?: PluginWebhooks;
}

/** How the processes and devices of a stack are recognised on a node. */
export interface VirtualizationComponents {
  /** Path of the hypervisor's device, for example /dev/kvm. */
  hypervisorDevice?: string;
  /** Regular expression that the names of vCPU threads match. */
  vCpuRegex?: string;
  /** Name of the management daemon beside the VMM; empty when the stack has none. */
  vmmDaemonProcess?: string;
  /** Name of the VMM's executable. */
  vmmProcessExecutable?: string;
  /** Start of the names of interrupt timer threads; empty when the hypervisor has none. */
  pitPidPrefix?: string;
}

/** The launcher pod of a stack. */
export interface VirtLauncherProfile {
  /** Image of the launcher. */
  virtLauncherImage?: string;
  /** Linux capabilities that the launcher's container gets. */
  virtLauncherCapabilities?: string[];
  /** Memory that the launcher and its stack need besides the memory of the guest. */
  virtLauncherOverhead?: Quantity;
}

/** Admission webhooks of a stack. They run beside virt-api and replace our own where their rules overlap. */
export interface PluginWebhooks {
  /** Image that serves the webhooks. */
  webhookContainerImage?: string;
  /** Webhooks that accept or refuse objects. */
  validatingWebhooks?: PluginWebhookSpecification[];
  /** Webhooks that change objects. */
  mutatingWebhooks?: PluginWebhookSpecification[];
}

/** One webhook of a stack. */
export interface PluginWebhookSpecification {
  /** Name of the webhook, unique in its list. */
  name: string;
  /** Requests that the webhook judges. */
  rules?: RuleWithOperations[];
  /** Path that the webhook is served at. */
  restServicePath?: string;
}
