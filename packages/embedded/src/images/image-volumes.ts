import type { ImageVolumeSource, Pod } from "@polyvirt/api/k8s";
import { imageErrors } from "./errors.ts";
import type { Platform } from "./oci-layout.ts";
import type { OciStore } from "./oci-store.ts";

/** An image that a pod wants to see as a folder. */
export interface ImageRequest {
  readonly reference: string;
  /** For whom the image is, where that is not this machine: a disk for a guest of another architecture. */
  readonly platform: Platform | undefined;
}

/** Folders with the files of images; throws when an image is not to be had. */
export interface ImageVolumes {
  directoryOf(request: ImageRequest): Promise<string>;
}

interface ImageVolumeDependencies {
  readonly store: Pick<OciStore, "resolve" | "unpack">;
  /** Of this machine. */
  readonly platform: Platform;
}

export function createImageVolumes({ store, platform }: ImageVolumeDependencies): ImageVolumes {
  return {
    directoryOf: async (request) => store.unpack(await store.resolve(request.reference, request.platform ?? platform)),
  };
}

const platformAnnotation = "polyvirt.io/image-platform.";

/** What a pod says about one of its image volumes. */
export function imageRequest(pod: Pod, volume: string, { reference = "" }: ImageVolumeSource): ImageRequest {
  const wanted = pod.metadata.annotations?.[`${platformAnnotation}${volume}`];
  return { reference, platform: wanted === undefined ? undefined : parsePlatform(wanted) };
}

/** Reads `OS/ARCHITECTURE`, optionally with `/VARIANT`. */
export function parsePlatform(text: string): Platform {
  const [os, architecture, variant, ...rest] = text.split("/");
  if (!os || !architecture || rest.length > 0) {
    throw imageErrors.ImagePlatformMissing(`read the platform "${text}": write OS/ARCHITECTURE, such as linux/arm64`);
  }
  return { os, architecture, ...(variant === undefined ? {} : { variant }) };
}
