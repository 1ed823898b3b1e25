import type { Descriptor, Platform } from "./oci-layout.ts";

/** The image of an index that fits. One without a platform is made for any: a bare disk, for example. */
export function choosePlatform(manifests: readonly Descriptor[], wanted: Platform): Descriptor | undefined {
  const fitting = manifests.filter(
    ({ platform }) => platform?.architecture === wanted.architecture && platform.os === wanted.os,
  );
  return (
    fitting.find(({ platform }) => wanted.variant === undefined || platform?.variant === wanted.variant) ??
    fitting[0] ??
    manifests.find(({ platform }) => platform === undefined)
  );
}
