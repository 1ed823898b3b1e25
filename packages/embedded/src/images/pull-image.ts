import { imageErrors } from "./errors.ts";
import { choosePlatform, platformOf } from "./choose-platform.ts";
import { sha256 } from "./digest.ts";
import { isIndex, type Descriptor, type ImageIndex, type ImageManifest, type Platform } from "./oci-layout.ts";
import type { OciStore } from "./oci-store.ts";
import type { Registries, RegistryCredentials } from "./registry/registries.ts";
import { RegistryClient, type FetchedManifest } from "./registry/registry-client.ts";
import { parseRegistryReference } from "./registry/registry-reference.ts";

interface PullRequest {
  readonly reference: string;
  readonly platform: Platform;
  /** For a registry and a repository of it. */
  readonly credentials?: (registry: string, repository: string) => RegistryCredentials | undefined;
  readonly onProgress?: (progress: PullProgress) => void;
}

interface PullProgress {
  readonly bytes: number;
  readonly totalBytes: number;
}

interface PullDependencies {
  readonly store: Pick<OciStore, "receive" | "put" | "tag">;
  readonly registries: Registries;
}

const maxNesting = 3;

/** Brings an image into the store, from a mirror or from its own registry. Returns the manifest's digest. */
export async function pullImage(request: PullRequest, dependencies: PullDependencies): Promise<string> {
  const { registry, repository } = parseRegistryReference(request.reference);
  const credentials = request.credentials?.(registry, repository);
  let failure: unknown;
  for (const endpoint of dependencies.registries.endpoints(registry)) {
    try {
      const client = new RegistryClient(
        endpoint,
        { reference: request.reference, repository },
        endpoint.credentials ?? credentials,
      );
      return await pullFrom(client, request, dependencies.store);
    } catch (error) {
      // The first word counts when all fail alike: it is the nearest mirror's.
      failure = error;
    }
  }
  throw failure;
}

async function pullFrom(
  client: RegistryClient,
  request: PullRequest,
  store: PullDependencies["store"],
): Promise<string> {
  const { version } = parseRegistryReference(request.reference);
  const fetched = await client.manifest(version);
  const manifest = await findManifest(client, fetched, request, 0);
  const { config, layers } = readManifest(manifest, request.reference);
  // An index says for whom its images are; an image by itself says it in its configuration.
  const platform = manifest === fetched ? await ownPlatform(client, config, request) : request.platform;
  const parts = [config, ...layers];
  const totalBytes = parts.reduce((sum, { size }) => sum + size, 0);
  let bytes = 0;
  for (const part of parts) {
    await store.receive(
      part,
      () => client.blob(part.digest),
      (count) => {
        bytes += count;
        request.onProgress?.({ bytes, totalBytes });
      },
    );
  }
  await store.put(manifest.descriptor.mediaType, manifest.bytes);
  await store.tag(request.reference, { ...manifest.descriptor, ...(platform === undefined ? {} : { platform }) });
  return manifest.descriptor.digest;
}

/** Small, whatever the registry says: it is read into memory. */
const maxConfigBytes = 4 * 1024 * 1024;

/** For whom an image is that is in no index, before its layers are fetched; undefined for one that is for any. */
async function ownPlatform(
  client: RegistryClient,
  config: Descriptor,
  { reference, platform: wanted }: PullRequest,
): Promise<Platform | undefined> {
  let bytes = Buffer.alloc(0);
  // A stream without an encoding gives Buffers.
  for await (const chunk of (await client.blob(config.digest)) as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length > maxConfigBytes)
      throw imageErrors.ImageCorrupt(`pull ${reference}: its configuration is too long`);
  }
  if (sha256(bytes) !== config.digest) {
    throw imageErrors.ImageCorrupt(`pull ${reference}: its configuration has another digest`);
  }
  const found = platformOf(parseJson({ bytes, descriptor: config }, reference));
  if (found === undefined || choosePlatform([{ ...config, platform: found }], wanted) !== undefined) return found;
  throw imageErrors.ImagePlatformMissing(
    `pull ${reference} for ${wanted.os}/${wanted.architecture}: it is there for ${found.os}/${found.architecture}`,
    { fields: { reference } },
  );
}

/** Goes down from an index to the manifest for the wanted platform. */
async function findManifest(
  client: RegistryClient,
  fetched: FetchedManifest,
  request: PullRequest,
  depth: number,
): Promise<FetchedManifest> {
  if (!isIndex(fetched.descriptor.mediaType)) return fetched;
  const { manifests = [] } = parseJson(fetched, request.reference) as Partial<ImageIndex>;
  const chosen = depth > maxNesting ? undefined : choosePlatform(manifests, request.platform);
  if (chosen === undefined) {
    const offered = manifests.map((item) => `${item.platform?.os}/${item.platform?.architecture}`).join(", ");
    throw imageErrors.ImagePlatformMissing(
      `pull ${request.reference} for ${request.platform.os}/${request.platform.architecture}: it is there for ${offered}`,
      { fields: { reference: request.reference } },
    );
  }
  return findManifest(client, await client.manifest(chosen.digest), request, depth + 1);
}

function readManifest(fetched: FetchedManifest, reference: string): ImageManifest {
  const manifest = parseJson(fetched, reference) as ImageManifest;
  const isDescriptor = (part: Descriptor | undefined): boolean =>
    typeof part?.digest === "string" && Number.isSafeInteger(part.size) && part.size >= 0;
  if (!Array.isArray(manifest.layers) || ![manifest.config, ...manifest.layers].every(isDescriptor)) {
    throw imageErrors.ImageCorrupt(`pull ${reference}: its manifest does not name a configuration and layers`);
  }
  return manifest;
}

/** Callers name the shape and check what they use of it. */
function parseJson({ bytes, descriptor }: FetchedManifest, reference: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw imageErrors.ImageCorrupt(`pull ${reference}: ${descriptor.digest} is not JSON`, { cause });
  }
}
