import type { KubeVirtSpec } from "@polyvirt/api";
import { errors } from "./errors.ts";

/** Image references of the roles that virt-operator deploys, and of the launcher that virt-controller starts. */
export interface RoleImages {
  readonly virtApi: string;
  readonly virtController: string;
  readonly virtHandler: string;
  readonly virtLauncher: string;
}

interface ImageParts {
  readonly registry: string;
  readonly name: string;
  /** With its separator: `:0.1.0` or `@sha256:…`. */
  readonly tag: string;
}

/** The images to run: those virt-operator was started with, moved to the registry and tag that the object asks for. */
export function resolveImages(
  images: RoleImages,
  spec: Pick<KubeVirtSpec, "imageRegistry" | "imageTag">,
): RoleImages & { readonly registry: string } {
  const resolve = (image: string): string => {
    const parts = splitImage(image);
    const registry = orElse(spec.imageRegistry, parts.registry);
    const tag = spec.imageTag === undefined || spec.imageTag === "" ? parts.tag : `:${spec.imageTag}`;
    return `${registry === "" ? "" : `${registry}/`}${parts.name}${tag}`;
  };
  return {
    virtApi: resolve(images.virtApi),
    virtController: resolve(images.virtController),
    virtHandler: resolve(images.virtHandler),
    virtLauncher: resolve(images.virtLauncher),
    registry: orElse(spec.imageRegistry, splitImage(images.virtApi).registry),
  };
}

function splitImage(image: string): ImageParts {
  const match = /^(?:(?<registry>.+)\/)?(?<name>[^/:@]+)(?<tag>[:@].+)?$/.exec(image);
  const { registry = "", name, tag = "" } = match?.groups ?? {};
  if (name === undefined)
    throw errors.OperatorImageInvalid(`read the image reference "${image}"`, { fields: { image } });
  return { registry, name, tag };
}

/** Kubernetes users write "" for "not set". */
function orElse(value: string | undefined, fallback: string): string {
  return value === undefined || value === "" ? fallback : value;
}
