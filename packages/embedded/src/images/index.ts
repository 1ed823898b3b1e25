/**
 * Images of the embedded cluster: references that stand for local commands, and a local OCI store for image volumes, which
 * is filled by builds, from archives and from registries.
 */
export { openImageCatalogue } from "./image-catalogue.ts";
export { openOciStore } from "./oci-store.ts";
export { importImages } from "./import-images.ts";
export { pullImage } from "./pull-image.ts";
export { openRegistries } from "./registry/registries.ts";
