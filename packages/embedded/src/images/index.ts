/** Images of the embedded cluster: references that stand for local commands, and a local OCI store for image volumes. */
export { openImageCatalogue } from "./image-catalogue.ts";
export { openOciStore } from "./oci-store.ts";
