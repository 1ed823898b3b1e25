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
/**
 * What our own launchers take with their VMM and daemon, beside the guest's memory and devices, by the image's name. The
 * benchmark `launchers` measures it.
 */
const ownStacksBytes: ReadonlyMap<string, number> = new Map([
  ["virt-launcher-qemu", 64 * Mi],
  ["virt-launcher-libvirt", 112 * Mi],
]);
/** An emulator keeps the guest's code in translated form: 75 to 95 MiB after the boot of a small Linux. */
const TRANSLATED_CODE_BYTES = 128 * Mi;

/**
 * What the stack's processes take beside the guest's memory: as the profile says, or as we measured our own. Undefined for
 * a foreign launcher that says nothing, whose cost is taken to be that of KubeVirt's.
 */
export function stackOverheadBytes(
  { config, launcherImage }: StackContext,
  mayBeEmulated: boolean,
): number | undefined {
  const { virtLauncherOverhead, virtualizationProfile } = config;
  if (virtLauncherOverhead !== undefined) return Number(quantityToInteger(parseQuantity(String(virtLauncherOverhead))));
  const image = splitImage(virtualizationProfile?.virtLauncher?.virtLauncherImage || launcherImage);
  // Only what came with this installation: a foreign image may have the same name.
  if (image.place !== splitImage(launcherImage).place) return undefined;
  const bytes = ownStacksBytes.get(image.name);
  return bytes === undefined ? undefined : bytes + (mayBeEmulated ? TRANSLATED_CODE_BYTES : 0);
}

type StackContext = Pick<LauncherPodContext, "launcherImage"> & {
  readonly config: Pick<LauncherPodContext["config"], "virtLauncherOverhead" | "virtualizationProfile">;
};

function splitImage(image: string): { readonly place: string; readonly name: string } {
  const slash = image.lastIndexOf("/");
  const rest = image.slice(slash + 1);
  return { place: image.slice(0, slash + 1), name: /^[^:@]*/.exec(rest)?.[0] ?? rest };
}
