import { annotations, type VirtualMachineInstance } from "@polyvirt/api";
import type { Volume } from "@polyvirt/api/k8s";
import type { LauncherPodContext } from "./context.ts";

/** The longest name that an annotation may have after its prefix. */
const MAX_NAME = 63;

/**
 * For which architecture images of several are wanted, where that is not the node's: a kubelet that knows this annotation
 * takes the guest's disk out of a multi-architecture image. Others ignore it.
 */
export function imagePlatforms(
  { spec }: VirtualMachineInstance,
  volumes: readonly Volume[],
  { config, placement }: LauncherPodContext,
): Record<string, string> {
  if (placement.mode !== "emulated") return {};
  const platform = `linux/${spec.architecture ?? config.defaultArchitecture}`;
  return Object.fromEntries(
    volumes
      .filter(({ image }) => image !== undefined)
      .map(({ name }) => `${annotations.imagePlatformPrefix}${name}`)
      // A longer one would make the pod invalid; the launcher still refuses a kernel of another architecture.
      .filter((key) => key.slice(key.indexOf("/") + 1).length <= MAX_NAME)
      .map((key) => [key, platform]),
  );
}
