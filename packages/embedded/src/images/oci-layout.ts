/** The parts of the OCI image layout that we read and write (image-spec 1.1). */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
}

export interface ImageIndex {
  readonly schemaVersion: 2;
  readonly mediaType?: string;
  readonly manifests: readonly Descriptor[];
}

export interface ImageManifest {
  readonly schemaVersion: 2;
  readonly mediaType?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  /** Not compressed: what we put into images (kernels, disks) is compressed already. */
  layer: "application/vnd.oci.image.layer.v1.tar",
} as const;

const dockerManifest = "application/vnd.docker.distribution.manifest.v2+json";
const dockerList = "application/vnd.docker.distribution.manifest.list.v2+json";

/** Everything that a registry may answer when it is asked for an image. */
export const manifestTypes: readonly string[] = [mediaTypes.index, mediaTypes.manifest, dockerManifest, dockerList];

/** Docker's own types mean the same things under other names. */
export function isIndex(mediaType: string): boolean {
  return mediaType === mediaTypes.index || mediaType === dockerList;
}

/** How a layer is compressed, by its media type; undefined for what we cannot read. */
export function layerCompression(mediaType: string): "none" | "gzip" | undefined {
  if (mediaType.endsWith(".tar+gzip") || mediaType.endsWith(".tar.gzip")) return "gzip";
  if (mediaType.endsWith(".tar")) return "none";
  return undefined;
}

export const referenceAnnotation = "org.opencontainers.image.ref.name";
