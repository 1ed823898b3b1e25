import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openTrustedDirectory } from "@polyvirt/host";
import { pack } from "tar-stream";
import { choosePlatform } from "./choose-platform.ts";
import { sha256 } from "./digest.ts";
import { extractLayer } from "./extract-layer.ts";
import { imageErrors } from "./errors.ts";
import { normalizeReference } from "./image-reference.ts";
import {
  isIndex,
  layerCompression,
  mediaTypes,
  referenceAnnotation,
  type Descriptor,
  type ImageIndex,
  type ImageManifest,
  type Platform,
} from "./oci-layout.ts";

interface ImageFile {
  /** Inside the image, such as `boot/vmlinuz`. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** Images in one folder, in the OCI image layout; other tools can read it. */
export interface OciStore {
  /** The digest of the manifest that a reference means on this platform. */
  resolve(reference: string, platform: Platform): Promise<string>;
  /** The folder with the image's files, unpacked once per digest and never changed afterwards. */
  unpack(manifestDigest: string): Promise<string>;
  list(): Promise<string[]>;
  /** Adds one image under each of the names; without a platform it is for any. */
  add(references: readonly string[], files: readonly ImageFile[], platform?: Platform): Promise<string>;
  remove(reference: string): Promise<boolean>;
  /** Takes a layer or configuration unless it is there, and refuses bytes that do not fit its digest and size. */
  receive(part: Descriptor, open: () => Promise<Readable>, onBytes?: (count: number) => void): Promise<void>;
  /** Takes a manifest or an index as it is. */
  put(mediaType: string, bytes: Buffer): Promise<Descriptor>;
  /** Gives an image in the store a name, beside those of other platforms that have it already. */
  tag(reference: string, descriptor: Descriptor): Promise<void>;
}

const emptyIndex: ImageIndex = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [] };
const maxNesting = 3;

export function openOciStore(folder: string): OciStore {
  return new LayoutStore(folder);
}

class LayoutStore implements OciStore {
  readonly #folder: string;
  /** One unpacking at a time per image, shared by everyone who waits for it. */
  readonly #unpacking = new Map<string, Promise<string>>();
  #changing: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async resolve(reference: string, platform: Platform): Promise<string> {
    const name = normalizeReference(reference);
    const { manifests } = await this.#readIndex();
    const digest = /@(sha256:[0-9a-f]{64})$/.exec(name)?.[1];
    const found = manifests.filter((item) =>
      digest === undefined ? item.annotations?.[referenceAnnotation] === name : item.digest === digest,
    );
    if (found.length === 0) {
      throw imageErrors.ImageUnknown(`find image "${reference}" in the local store`, { fields: { reference } });
    }
    return this.#choose(reference, found, platform, 0);
  }

  unpack(manifestDigest: string): Promise<string> {
    const running = this.#unpacking.get(manifestDigest);
    if (running !== undefined) return running;
    const work = this.#unpackOnce(manifestDigest).finally(() => this.#unpacking.delete(manifestDigest));
    this.#unpacking.set(manifestDigest, work);
    return work;
  }

  async list(): Promise<string[]> {
    const { manifests } = await this.#readIndex();
    const names = manifests.map((item) => item.annotations?.[referenceAnnotation]);
    return [...new Set(names.filter((name) => name !== undefined))].toSorted();
  }

  async add(references: readonly string[], files: readonly ImageFile[], platform?: Platform): Promise<string> {
    const tar = await packFiles(files);
    const layer = await this.#writeBlob(mediaTypes.layer, tar);
    const rootfs = { type: "layers", diff_ids: [layer.digest] };
    const config = await this.#writeJson(mediaTypes.config, { ...platform, rootfs });
    const manifest: ImageManifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [layer] };
    const descriptor = await this.#writeJson(mediaTypes.manifest, manifest);
    const entry = { ...descriptor, ...(platform === undefined ? {} : { platform }) };
    for (const reference of references) await this.tag(reference, entry);
    return descriptor.digest;
  }

  async remove(reference: string): Promise<boolean> {
    const name = normalizeReference(reference);
    return this.#change((manifests) => manifests.filter((item) => item.annotations?.[referenceAnnotation] !== name));
  }

  async receive(
    part: Descriptor,
    open: () => Promise<Readable>,
    onBytes: (count: number) => void = () => {},
  ): Promise<void> {
    const path = this.#blobPath(part.digest);
    if (existsSync(path)) return onBytes(part.size);
    await mkdir(join(this.#folder, "blobs/sha256"), { recursive: true, mode: 0o700 });
    const aside = `${path}.${randomUUID()}.new`;
    const hash = createHash("sha256");
    let size = 0;
    const check = async function* (source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
      for await (const chunk of source) {
        size += chunk.length;
        if (size > part.size)
          throw imageErrors.ImageCorrupt(`receive ${part.digest}: it has more than ${part.size} bytes`);
        hash.update(chunk);
        onBytes(chunk.length);
        yield chunk;
      }
    };
    try {
      await pipeline(await open(), check, createWriteStream(aside));
      if (size !== part.size || `sha256:${hash.digest("hex")}` !== part.digest) {
        throw imageErrors.ImageCorrupt(`receive ${part.digest}: its bytes have another digest or size`);
      }
      await rename(aside, path);
    } finally {
      await rm(aside, { force: true });
    }
  }

  put(mediaType: string, bytes: Buffer): Promise<Descriptor> {
    return this.#writeBlob(mediaType, bytes);
  }

  async tag(reference: string, descriptor: Descriptor): Promise<void> {
    const name = normalizeReference(reference);
    const { platform } = descriptor;
    const replaced = (item: Descriptor): boolean =>
      item.annotations?.[referenceAnnotation] === name &&
      (platform === undefined || item.platform === undefined || item.platform.architecture === platform.architecture);
    const entry = { ...descriptor, annotations: { [referenceAnnotation]: name } };
    await this.#change((manifests) => [...manifests.filter((item) => !replaced(item)), entry]);
  }

  /** One change of the index after the other: each begins with what the last one wrote. */
  #change(change: (manifests: readonly Descriptor[]) => readonly Descriptor[]): Promise<boolean> {
    const work = this.#changing.then(async () => {
      const index = await this.#readIndex();
      const manifests = change(index.manifests);
      if (manifests.length === index.manifests.length && manifests.every((item, at) => item === index.manifests[at])) {
        return false;
      }
      await this.#writeIndex({ ...index, manifests });
      return true;
    });
    this.#changing = work.catch(() => false);
    return work;
  }

  async #choose(reference: string, found: readonly Descriptor[], platform: Platform, depth: number): Promise<string> {
    const match = choosePlatform(found, platform);
    if (match === undefined || depth > maxNesting) {
      const offered = found.map((item) => `${item.platform?.os}/${item.platform?.architecture}`).join(", ");
      throw imageErrors.ImagePlatformMissing(
        `find image "${reference}" for ${platform.os}/${platform.architecture}: it is there for ${offered}`,
        { fields: { reference } },
      );
    }
    if (!isIndex(match.mediaType)) return match.digest;
    const nested = await this.#readJson<ImageIndex>(match.digest, reference);
    return this.#choose(reference, nested.manifests, platform, depth + 1);
  }

  async #unpackOnce(manifestDigest: string): Promise<string> {
    const target = join(this.#folder, "unpacked", manifestDigest.replace(":", "-"));
    if (existsSync(target)) return target;
    const manifest = await this.#readJson<ImageManifest>(manifestDigest, manifestDigest);
    await mkdir(join(this.#folder, "unpacked"), { recursive: true, mode: 0o700 });
    // Unpacked aside and renamed, so that a half-unpacked image is never seen.
    const aside = await mkdtemp(`${target}.`);
    try {
      using root = openTrustedDirectory(aside);
      for (const layer of manifest.layers) {
        const compression = layerCompression(layer.mediaType);
        if (compression === undefined) {
          throw imageErrors.ImageCorrupt(`unpack ${manifestDigest}: layers of type ${layer.mediaType} cannot be read`);
        }
        await this.#verify(layer);
        const content = createReadStream(this.#blobPath(layer.digest));
        await extractLayer(root, { content, compression, image: manifestDigest });
      }
      // Whoever mounts it may run as another user; the folder around it keeps everyone else out.
      await chmod(aside, 0o755);
      // Another process may have unpacked the same digest meanwhile: its files are as good as ours.
      if (!existsSync(target)) await rename(aside, target).catch(ignoreIfPresent(target));
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
    return target;
  }

  async #readIndex(): Promise<ImageIndex> {
    const text = await readFile(join(this.#folder, "index.json"), "utf8").catch(() => undefined);
    if (text === undefined) return emptyIndex;
    try {
      // Written by us or by another tool that follows the layout; digests are checked before anything is used.
      return JSON.parse(text) as ImageIndex;
    } catch (cause) {
      throw imageErrors.ImageCorrupt(`read ${join(this.#folder, "index.json")}`, { cause });
    }
  }

  async #writeIndex(index: ImageIndex): Promise<void> {
    await writeFile(join(this.#folder, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}\n');
    const path = join(this.#folder, "index.json");
    await writeFile(`${path}.new`, `${JSON.stringify(index, undefined, 2)}\n`);
    await rename(`${path}.new`, path);
  }

  async #readJson<T>(digest: string, what: string): Promise<T> {
    const bytes = await readFile(this.#blobPath(digest)).catch((cause: unknown) => {
      throw imageErrors.ImageCorrupt(`read part ${digest} of image ${what}`, { cause });
    });
    if (sha256(bytes) !== digest) throw imageErrors.ImageCorrupt(`read part ${digest} of image ${what}: wrong digest`);
    // The digest vouches that these are the bytes the index names; a wrong shape fails where a field is missing.
    return JSON.parse(bytes.toString("utf8")) as T;
  }

  async #verify(descriptor: Descriptor): Promise<void> {
    const hash = createHash("sha256");
    await pipeline(createReadStream(this.#blobPath(descriptor.digest)), hash).catch((cause: unknown) => {
      throw imageErrors.ImageCorrupt(`read layer ${descriptor.digest}`, { cause });
    });
    if (`sha256:${hash.digest("hex")}` !== descriptor.digest) {
      throw imageErrors.ImageCorrupt(`read layer ${descriptor.digest}: its bytes have another digest`);
    }
  }

  #blobPath(digest: string): string {
    const hex = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];
    if (hex === undefined) throw imageErrors.ImageCorrupt(`read part "${digest}": only sha256 digests are known`);
    return join(this.#folder, "blobs/sha256", hex);
  }

  #writeJson(mediaType: string, value: object): Promise<Descriptor> {
    return this.#writeBlob(mediaType, Buffer.from(JSON.stringify(value)));
  }

  async #writeBlob(mediaType: string, bytes: Buffer): Promise<Descriptor> {
    const digest = sha256(bytes);
    const path = this.#blobPath(digest);
    await mkdir(join(this.#folder, "blobs/sha256"), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, bytes);
    await rename(`${path}.new`, path);
    return { mediaType, digest, size: bytes.length };
  }
}

function ignoreIfPresent(target: string): (error: unknown) => void {
  return (error) => {
    if (!existsSync(target)) throw error;
  };
}

/** A tar of plain files with fixed times and owners, so that the same files give the same digest. */
async function packFiles(files: readonly ImageFile[]): Promise<Buffer> {
  const archive = pack();
  for (const file of files) {
    archive.entry({ name: file.path, mode: 0o644, mtime: new Date(0), uid: 0, gid: 0 }, Buffer.from(file.content));
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  // tar-stream's types leave the chunks open; they are always Buffers.
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
