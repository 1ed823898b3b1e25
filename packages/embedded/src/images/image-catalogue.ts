import * as fs from "node:fs";
import * as path from "node:path";
import { errors } from "../errors.ts";
import { normalizeReference } from "./image-reference.ts";

/** What an image reference means on this machine: a command of the machine instead of a file system. */
export interface CatalogueImage {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Files and folders of the machine that the command needs, by where it finds them in the container (read-only). So a
   * program in somebody's private home can be run by a pod of another user.
   */
  readonly files?: Readonly<Record<string, string>>;
}

interface CatalogueFile {
  readonly images: Readonly<Record<string, CatalogueImage>>;
}

/** The file that maps image references to local commands; edited by `polyvirt image` and read by every kubelet. */
export interface ImageCatalogue {
  find(reference: string): CatalogueImage | undefined;
  list(): [string, CatalogueImage][];
  add(reference: string, image: CatalogueImage): void;
  /** False when there was none. */
  remove(reference: string): boolean;
}

export function openImageCatalogue(file: string): ImageCatalogue {
  let read: { modified: number; size: number; images: ReadonlyMap<string, CatalogueImage> } | undefined;
  const images = (): ReadonlyMap<string, CatalogueImage> => {
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return new Map();
    if (read?.modified !== stat.mtimeMs || read.size !== stat.size) {
      read = { modified: stat.mtimeMs, size: stat.size, images: parseCatalogue(fs.readFileSync(file, "utf8"), file) };
    }
    return read.images;
  };
  const write = (entries: ReadonlyMap<string, CatalogueImage>): void => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const content: CatalogueFile = { images: Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1))) };
    const fresh = `${file}.${process.pid}.new`;
    fs.writeFileSync(fresh, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
    fs.renameSync(fresh, file);
  };
  return {
    find: (reference) => images().get(reference) ?? images().get(normalizeReference(reference)),
    list: () => [...images()],
    add: (reference, image) => write(new Map(images()).set(reference, image)),
    remove(reference) {
      const left = new Map(images());
      const found = left.delete(reference);
      if (found) write(left);
      return found;
    },
  };
}

export function parseCatalogue(text: string, file: string): Map<string, CatalogueImage> {
  const refuse = (problem: string): Error =>
    errors.ImageCatalogueInvalid(`read the image catalogue ${file}: ${problem}; correct the file`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw errors.ImageCatalogueInvalid(`read the image catalogue ${file}: it is not JSON; correct the file`, { cause });
  }
  const images = isRecord(parsed) ? parsed["images"] : undefined;
  if (!isRecord(images)) throw refuse('there is no "images" object');
  return new Map(
    Object.entries(images).map(([reference, image]) => {
      if (!isRecord(image) || !isStringList(image["command"]) || image["command"].length === 0) {
        throw refuse(`image ${reference} has no command list`);
      }
      const { command, environment, files } = image;
      if (environment !== undefined && !isStringMap(environment)) {
        throw refuse(`the environment of image ${reference} must map names to texts`);
      }
      if (
        files !== undefined &&
        !(
          isStringMap(files) &&
          Object.entries(files)
            .flat()
            .every((item) => path.isAbsolute(item))
        )
      ) {
        throw refuse(`the files of image ${reference} must map absolute paths to absolute paths`);
      }
      return [
        reference,
        { command, ...(environment === undefined ? {} : { environment }), ...(files === undefined ? {} : { files }) },
      ];
    }),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStringMap(value: unknown): value is Record<string, string> {
  return isRecord(value) && isStringList(Object.values(value));
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
