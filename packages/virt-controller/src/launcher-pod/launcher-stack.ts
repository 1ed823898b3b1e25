import { parseQuantity, quantityToInteger } from "@polyvirt/core";
import type { LauncherPodContext } from "./context.ts";

/** What the virtualization stack of the cluster decides about the launcher's container. */
interface LauncherStack {
  readonly image: string;
  readonly capabilities: readonly string[];
}

/** The profile's stack where the cluster has one; otherwise our own launcher with the rights that it needs. */
export function launcherStack({ config, launcherImage }: LauncherPodContext, user: number): LauncherStack {
  const { virtLauncherImage, virtLauncherCapabilities } = config.virtualizationProfile?.virtLauncher ?? {};
  return {
    image: virtLauncherImage || launcherImage,
    capabilities: virtLauncherCapabilities ?? ["NET_BIND_SERVICE", ...(user === 0 ? ["SYS_NICE"] : [])],
  };
}

const Mi = 1024 ** 2;
/** Our own launcher takes 24 MiB of its own memory, QEMU about 30 MiB beside the guest's and its devices'. */
const OWN_STACK_BYTES = 64 * Mi;
/** An emulator keeps the guest's code in translated form: 75 to 95 MiB after the boot of a small Linux. */
const TRANSLATED_CODE_BYTES = 128 * Mi;

/**
 * What the stack's processes take beside the guest's memory: as the profile says, or as we measured our own. Undefined for
 * a foreign launcher that says nothing, whose cost is taken to be that of KubeVirt's.
 */
export function stackOverheadBytes(
  { config }: Pick<LauncherPodContext, "config">,
  mayBeEmulated: boolean,
): number | undefined {
  const { virtLauncherOverhead } = config;
  if (virtLauncherOverhead !== undefined) return Number(quantityToInteger(parseQuantity(String(virtLauncherOverhead))));
  if (config.virtualizationProfile?.virtLauncher?.virtLauncherImage) return undefined;
  return OWN_STACK_BYTES + (mayBeEmulated ? TRANSLATED_CODE_BYTES : 0);
}
