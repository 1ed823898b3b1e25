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
