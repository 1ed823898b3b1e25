import type { Descriptor, Platform } from "./oci-layout.ts";

/** What an image's configuration says; undefined for an image that names no architecture and so is for any. */
export function platformOf(config: unknown): Platform | undefined {
  if (typeof config !== "object" || config === null) return undefined;
  const { os, architecture, variant } = config as Partial<Record<keyof Platform, unknown>>; // Each is checked below.
  if (typeof architecture !== "string" || architecture === "") return undefined;
  return {
    os: typeof os === "string" && os !== "" ? os : "linux",
    architecture,
    ...(typeof variant === "string" && variant !== "" ? { variant } : {}),
  };
}

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
