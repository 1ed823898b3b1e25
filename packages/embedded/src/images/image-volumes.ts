import type { ImageVolumeSource, Pod, Secret } from "@polyvirt/api/k8s";
import { hasCode } from "@polyvirt/core";
import { imageErrors } from "./errors.ts";
import type { Platform } from "./oci-layout.ts";
import type { OciStore } from "./oci-store.ts";
import { pullImage } from "./pull-image.ts";
import { pullCredentials } from "./registry/pull-secret.ts";
import type { Registries } from "./registry/registries.ts";

type PullPolicy = NonNullable<ImageVolumeSource["pullPolicy"]>;

/** An image that a pod wants to see as a folder. */
export interface ImageRequest {
  readonly reference: string;
  /** For whom the image is, where that is not this machine: a disk for a guest of another architecture. */
  readonly platform: Platform | undefined;
  readonly pullPolicy: PullPolicy;
  /** The pod's own, read when a registry is asked. */
  readonly pullSecrets?: () => Promise<readonly Secret[]>;
  /** Tells what happens, in the words of Kubernetes' events. */
  readonly tell?: (reason: "Pulling" | "Pulled", message: string) => void;
}

/** Folders with the files of images; throws when an image is not to be had. */
export interface ImageVolumes {
  directoryOf(request: ImageRequest): Promise<string>;
}

interface ImageVolumeDependencies {
  readonly store: Pick<OciStore, "resolve" | "unpack" | "receive" | "put" | "tag">;
  /** Of this machine. */
  readonly platform: Platform;
  /** Without it there is nothing but the local store. */
  readonly registries?: Registries;
  readonly now?: () => number;
}

/** Names of images that are made on this machine and never come from a registry. */
const localPrefix = "polyvirt.local/";

export function createImageVolumes({
  store,
  platform: own,
  registries,
  now = Date.now,
}: ImageVolumeDependencies): ImageVolumes {
  /** One pull at a time per image and platform, shared by everyone who waits for it. */
  const pulling = new Map<string, Promise<string>>();

  const pull = async (request: ImageRequest, platform: Platform, from: Registries): Promise<string> => {
    const { reference, tell, pullSecrets } = request;
    const started = now();
    tell?.("Pulling", `Pulling image "${reference}"`);
    const secrets = (await pullSecrets?.()) ?? [];
    let size = 0;
    const digest = await pullImage(
      {
        reference,
        platform,
        credentials: (registry, repository) => pullCredentials(secrets, registry, repository),
        onProgress: ({ totalBytes }) => (size = totalBytes),
      },
      { store, registries: from },
    );
    const seconds = ((now() - started) / 1000).toFixed(3);
    tell?.("Pulled", `Successfully pulled image "${reference}" in ${seconds}s. Image size: ${size} bytes.`);
    return digest;
  };

  const find = async (request: ImageRequest): Promise<string> => {
    const platform = request.platform ?? own;
    const mayPull =
      registries !== undefined && request.pullPolicy !== "Never" && !request.reference.startsWith(localPrefix);
    if (!mayPull || request.pullPolicy === "IfNotPresent") {
      try {
        return await store.resolve(request.reference, platform);
      } catch (error) {
        const absent = hasCode(error, "ImageUnknown") || hasCode(error, "ImagePlatformMissing");
        if (!mayPull || !absent) throw error;
      }
    }
    const key = `${request.reference} ${platform.os}/${platform.architecture}`;
    const running = pulling.get(key) ?? pull(request, platform, registries).finally(() => pulling.delete(key));
    pulling.set(key, running);
    return running;
  };

  return { directoryOf: async (request) => store.unpack(await find(request)) };
}

const platformAnnotation = "polyvirt.io/image-platform.";

/** What a pod says about one of its image volumes. */
export function imageRequest(
  pod: Pod,
  volume: string,
  { reference = "", pullPolicy }: ImageVolumeSource,
): Pick<ImageRequest, "reference" | "platform" | "pullPolicy"> {
  const wanted = pod.metadata.annotations?.[`${platformAnnotation}${volume}`];
  const platform = wanted === undefined ? undefined : parsePlatform(wanted);
  return { reference, platform, pullPolicy: pullPolicy ?? defaultPolicy(reference) };
}

/** As in Kubernetes: what is called latest may have changed. */
function defaultPolicy(reference: string): PullPolicy {
  const name = reference.slice(reference.lastIndexOf("/") + 1);
  return name.includes("@") || (name.includes(":") && !name.endsWith(":latest")) ? "IfNotPresent" : "Always";
}

/** Reads `OS/ARCHITECTURE`, optionally with `/VARIANT`. */
export function parsePlatform(text: string): Platform {
  const [os, architecture, variant, ...rest] = text.split("/");
  if (!os || !architecture || rest.length > 0) {
    throw imageErrors.ImagePlatformMissing(`read the platform "${text}": write OS/ARCHITECTURE, such as linux/arm64`);
  }
  return { os, architecture, ...(variant === undefined ? {} : { variant }) };
}
