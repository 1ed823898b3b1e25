import * as fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFileForReading, openTrustedDirectory, type OpenedPath } from "@polyvirt/host";
import { platformOf } from "./choose-platform.ts";
import { imageErrors } from "./errors.ts";
import { extractLayer } from "./extract-layer.ts";
import {
  isIndex,
  mediaTypes,
  referenceAnnotation,
  type Descriptor,
  type ImageIndex,
  type ImageManifest,
} from "./oci-layout.ts";
import type { OciStore } from "./oci-store.ts";

type Target = Pick<OciStore, "receive" | "put" | "tag">;

interface ImportOptions {
  /** The name for the one image in it, whatever name it has there. */
  readonly reference: string | undefined;
}

/**
 * Takes the images of an OCI layout (a folder, or an archive of one) or of what `docker save` writes into the store.
 * Returns their names. SAFETY: the content is somebody else's: archives are unpacked like layers, and every file is opened
 * without following links.
 */
export async function importImages(path: string, store: Target, { reference }: ImportOptions): Promise<string[]> {
  const stat = fs.statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw imageErrors.ImageArchiveUnknown(`read images from ${path}: it is not there`);
  if (stat.isDirectory()) return importFolder(path, store, reference, path);
  const unpacked = await mkdtemp(join(tmpdir(), "polyvirt-images-"));
  try {
    using root = openTrustedDirectory(unpacked);
    const compression = isCompressed(path) ? "gzip" : "none";
    await extractLayer(root, { content: fs.createReadStream(path), compression, image: path });
    return await importFolder(unpacked, store, reference, path);
  } finally {
    await rm(unpacked, { recursive: true, force: true });
  }
}

function isCompressed(path: string): boolean {
  const magic = Buffer.alloc(2);
  const fd = fs.openSync(path, "r");
  fs.readSync(fd, magic, 0, 2, 0);
  fs.closeSync(fd);
  return magic[0] === 0x1f && magic[1] === 0x8b;
}

async function importFolder(
  folder: string,
  store: Target,
  reference: string | undefined,
  shown: string,
): Promise<string[]> {
  using root = openTrustedDirectory(folder);
  const files = fs.readdirSync(folder);
  // Awaited here, because the folder is closed when this block ends.
  if (files.includes("index.json")) return await importLayout(root, store, reference, shown);
  if (files.includes("manifest.json")) return await importDockerArchive(root, store, reference, shown);
  throw imageErrors.ImageArchiveUnknown(`read images from ${shown}: it has neither index.json nor manifest.json`);
}

async function importLayout(
  root: OpenedPath,
  store: Target,
  reference: string | undefined,
  shown: string,
): Promise<string[]> {
  const { manifests } = readJson(root, "index.json", shown) as ImageIndex;
  if (reference !== undefined && manifests.length > 1 && manifests.some(({ platform }) => platform === undefined)) {
    throw imageErrors.ImageArchiveUnknown(`read one image from ${shown}: it holds ${manifests.length}`);
  }
  const names: string[] = [];
  for (const descriptor of manifests) {
    const given = descriptor.annotations?.["io.containerd.image.name"] ?? descriptor.annotations?.[referenceAnnotation];
    // Tools write the tag alone into a layout; a name needs a repository.
    const name = reference ?? (given?.includes("/") === true || given?.includes(":") === true ? given : undefined);
    if (name === undefined) {
      throw imageErrors.ImageArchiveUnknown(`read images from ${shown}: ${descriptor.digest} has no name; give one`);
    }
    await importDescriptor(root, store, name, descriptor, shown);
    names.push(name);
  }
  return [...new Set(names)];
}

async function importDescriptor(
  root: OpenedPath,
  store: Target,
  name: string,
  descriptor: Descriptor,
  shown: string,
): Promise<void> {
  const path = blobPath(descriptor.digest, shown);
  if (isIndex(descriptor.mediaType)) {
    for (const nested of (readJson(root, path, shown) as ImageIndex).manifests) {
      await importDescriptor(root, store, name, nested, shown);
    }
    return;
  }
  const { config, layers } = readJson(root, path, shown) as ImageManifest;
  for (const part of [config, ...layers]) {
    await store.receive(part, async () => readStream(root, blobPath(part.digest, shown)));
  }
  const stored = await store.put(descriptor.mediaType, readFile(root, path, shown));
  if (stored.digest !== descriptor.digest) {
    throw imageErrors.ImageCorrupt(`read images from ${shown}: ${descriptor.digest} has other bytes`);
  }
  const platform = descriptor.platform ?? platformOf(readJson(root, blobPath(config.digest, shown), shown));
  await store.tag(name, { ...stored, ...(platform === undefined ? {} : { platform }) });
}

interface DockerImage {
  readonly Config: string;
  readonly RepoTags?: readonly string[] | null;
  readonly Layers: readonly string[];
}

async function importDockerArchive(
  root: OpenedPath,
  store: Target,
  reference: string | undefined,
  shown: string,
): Promise<string[]> {
  const images = readJson(root, "manifest.json", shown) as DockerImage[];
  if (reference !== undefined && images.length > 1) {
    throw imageErrors.ImageArchiveUnknown(`read one image from ${shown}: it holds ${images.length}`);
  }
  const names: string[] = [];
  for (const image of images) {
    const wanted = reference === undefined ? (image.RepoTags ?? []) : [reference];
    if (wanted.length === 0) {
      throw imageErrors.ImageArchiveUnknown(`read images from ${shown}: an image in it has no name; give one`);
    }
    const bytes = readFile(root, image.Config, shown);
    const config = await store.put(mediaTypes.config, bytes);
    const layers: Descriptor[] = [];
    for (const path of image.Layers) {
      const layer = await describeFile(root, path);
      await store.receive(layer, async () => readStream(root, path));
      layers.push(layer);
    }
    const manifest: ImageManifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers };
    const descriptor = await store.put(mediaTypes.manifest, Buffer.from(JSON.stringify(manifest)));
    const platform = platformOf(readJson(root, image.Config, shown));
    for (const name of wanted)
      await store.tag(name, { ...descriptor, ...(platform === undefined ? {} : { platform }) });
    names.push(...wanted);
  }
  return names;
}

async function describeFile(root: OpenedPath, path: string): Promise<Descriptor> {
  const hash = createHash("sha256");
  let size = 0;
  // A stream without an encoding gives Buffers.
  for await (const chunk of readStream(root, path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { mediaType: mediaTypes.layer, digest: `sha256:${hash.digest("hex")}`, size };
}

function readStream(root: OpenedPath, path: string): fs.ReadStream {
  return fs.createReadStream("", { fd: openFileForReading(root, path), start: 0 });
}

function readFile(root: OpenedPath, path: string, shown: string): Buffer {
  try {
    const fd = openFileForReading(root, path);
    try {
      return fs.readFileSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (cause) {
    throw imageErrors.ImageCorrupt(`read images from ${shown}: ${path} cannot be read`, { cause });
  }
}

/** Callers name the shape: a wrong one fails where a field is missing, and digests are compared before bytes are used. */
function readJson(root: OpenedPath, path: string, shown: string): unknown {
  try {
    return JSON.parse(readFile(root, path, shown).toString("utf8"));
  } catch (cause) {
    throw imageErrors.ImageCorrupt(`read images from ${shown}: ${path} is not JSON`, { cause });
  }
}

function blobPath(digest: string, shown: string): string {
  const hex = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];
  if (hex === undefined) throw imageErrors.ImageCorrupt(`read images from ${shown}: "${digest}" is no sha256 digest`);
  return `blobs/sha256/${hex}`;
}
