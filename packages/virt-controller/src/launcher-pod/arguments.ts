import type { VirtualMachineInstance } from "@polyvirt/api";
import type { ClusterConfig } from "@polyvirt/hypervisor";
import type { LauncherPodContext } from "./context.ts";

type SelectedHypervisor = ClusterConfig["hypervisor"];

const DEFAULT_GRACE_SECONDS = 30;
/** The launcher gets this much longer than the guest, and the pod as much again, so that each can still report. */
const MARGIN_SECONDS = 15;
/** How long a launcher waits for its domain to appear. */
const DOMAIN_TIMEOUT_SECONDS = 240;

function graceSeconds(vmi: VirtualMachineInstance): number {
  return vmi.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
}

export function podGraceSeconds(vmi: VirtualMachineInstance): number {
  return graceSeconds(vmi) + 2 * MARGIN_SECONDS;
}

/** What the administrator calls the hypervisor's device and type; the launcher knows the hypervisor's own names. */
function nodeNames({ hypervisorDevice, virtType }: SelectedHypervisor): string[] {
  return [
    ...(hypervisorDevice === undefined ? [] : ["--hypervisor-device", hypervisorDevice]),
    ...(virtType === undefined ? [] : ["--virt-type", virtType]),
  ];
}

export function launcherArguments(vmi: VirtualMachineInstance, context: LauncherPodContext): string[] {
  const { name = "", namespace = "", uid = "" } = vmi.metadata;
  return [
    "--name",
    name,
    "--namespace",
    namespace,
    "--uid",
    uid,
    "--hypervisor",
    context.hypervisor.name,
    ...nodeNames(context.config.hypervisor),
    ...context.hypervisorModules.flatMap((module) => ["--hypervisor-module", module]),
    "--grace-period-seconds",
    String(graceSeconds(vmi) + MARGIN_SECONDS),
    "--qemu-timeout",
    `${DOMAIN_TIMEOUT_SECONDS}s`,
    ...(context.config.useEmulation ? ["--allow-emulation"] : []),
    ...(context.config.isEnabled("MultiArchitectureSoftwareEmulation") ? ["--allow-cross-architecture"] : []),
  ];
}
