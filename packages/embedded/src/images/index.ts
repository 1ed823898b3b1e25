/** Images of the embedded cluster: references that stand for local commands, and a local OCI store for image volumes. */
export { imageErrorKinds } from "./errors.ts";
export { openImageCatalogue, type CatalogueImage, type ImageCatalogue } from "./image-catalogue.ts";
export { normalizeReference } from "./image-reference.ts";
export { openOciStore, type ImageFile, type OciStore } from "./oci-store.ts";
export type { Platform } from "./oci-layout.ts";
