import { linkSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { makeDirectoryBeneath, openBeneath, type OpenedPath } from "@polyvirt/host";
import { extract, type Header } from "tar-stream";
import { imageErrors } from "./errors.ts";

interface LayerSource {
  readonly content: Readable;
  readonly compression: "none" | "gzip";
  /** For messages. */
  readonly image: string;
}

/**
 * Unpacks one layer over what earlier layers left below `root`. Every entry is created in a directory that was opened
 * component by component without following symlinks, so no archive can write outside `root`, whatever links it carries.
 */
export async function extractLayer(root: OpenedPath, { content, compression, image }: LayerSource): Promise<void> {
  const archive = extract();
  const source = compression === "gzip" ? content.pipe(createGunzip()) : content;
  const feeding = pipeline(source, archive);
  // Observed through the loop below; kept from being reported as unhandled while the loop still runs.
  feeding.catch(() => {});
  for await (const entry of archive) {
    await extractEntry(root, entry.header, entry, image);
    entry.resume();
  }
  await feeding;
}

async function extractEntry(
  root: OpenedPath,
  header: Header,
  content: AsyncIterable<unknown>,
  image: string,
): Promise<void> {
  const components = safeComponents(header.name, image);
  const name = components.pop();
  if (name === undefined) return;
  using folder = makeDirectoryBeneath(root, components.join("/") || ".");
  if (name.startsWith(".wh.")) return applyWhiteout(folder, name);
  switch (header.type) {
    case "directory":
      replaceUnlessDirectory(folder, name);
      makeDirectoryBeneath(folder, name).close();
      return;
    case "file":
    case "contiguous-file":
      remove(folder, name);
      // Awaited here, because the folder is closed when this block ends.
      return await writeNewFile(folder.child(name), content, (header.mode ?? 0o644) & 0o755);
    case "symlink":
      remove(folder, name);
      // Never followed by us: readers open what they want component by component too.
      symlinkSync(header.linkname ?? "", folder.child(name));
      return;
    case "link": {
      const target = safeComponents(header.linkname ?? "", image).join("/");
      using existing = openBeneath(root, target, { expect: "file" });
      remove(folder, name);
      linkSync(readlinkSync(existing.path), folder.child(name));
      return;
    }
    case "block-device":
    case "character-device":
    case "fifo":
    case undefined:
    default:
      throw imageErrors.ImageUnsafe(
        `unpack ${image}: ${header.name} is a ${header.type}, which images may not hold here`,
      );
  }
}

/** `wx` refuses an existing name, also a symlink; set-id bits and foreign write rights are not taken over. */
async function writeNewFile(path: string, content: AsyncIterable<unknown>, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    // tar-stream's types leave the chunks open; they are always Buffers.
    for await (const chunk of content) await file.writeFile(chunk as Buffer);
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

function safeComponents(path: string, image: string): string[] {
  const components = path.split("/").filter((part) => part !== "" && part !== ".");
  if (path.includes("\0") || components.includes("..")) {
    throw imageErrors.ImageUnsafe(`unpack ${image}: the entry "${path}" leads outside the image`);
  }
  return components;
}

/** `.wh.NAME` deletes NAME of earlier layers; `.wh..wh..opq` deletes everything that they have in this folder. */
function applyWhiteout(folder: OpenedPath, name: string): void {
  if (name !== ".wh..wh..opq") return remove(folder, name.slice(4));
  for (const entry of readdirSync(folder.path)) remove(folder, entry);
}

function replaceUnlessDirectory(folder: OpenedPath, name: string): void {
  try {
    openBeneath(folder, name, { expect: "directory" }).close();
  } catch {
    remove(folder, name);
  }
}

function remove(folder: OpenedPath, name: string): void {
  rmSync(folder.child(name), { recursive: true, force: true });
}
