import * as fs from "node:fs";
import * as path from "node:path";
import type { ProjectedFiles } from "./projection.ts";

/**
 * Writes the files of a projection so that a reader sees either all old or all new ones: they are in a directory of their
 * own behind the symlink `..data`, which is exchanged in one step. Returns false when nothing had to change.
 */
export function writeProjection(directory: string, files: ProjectedFiles, stamp: string, group?: number): boolean {
  const current = path.join(directory, "..data");
  if (sameFiles(current, files)) return false;
  const fresh = `..${stamp}`;
  const freshPath = path.join(directory, fresh);
  fs.rmSync(freshPath, { recursive: true, force: true });
  fs.mkdirSync(freshPath, { recursive: true, mode: 0o755 });
  for (const [name, { content, mode }] of files) {
    const target = path.join(freshPath, name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, content, { mode: 0o600 });
    if (group !== undefined) fs.chownSync(target, -1, group);
    // A group that owns the volume may read what its owner may.
    fs.chmodSync(target, group === undefined ? mode : mode | ((mode & 0o400) >> 3));
  }
  const old = linkTarget(current);
  fs.rmSync(`${current}_new`, { force: true });
  fs.symlinkSync(fresh, `${current}_new`);
  fs.renameSync(`${current}_new`, current);
  const tops = new Set([...files.keys()].map((name) => name.split("/")[0] ?? name));
  for (const top of tops) {
    const link = path.join(directory, top);
    if (linkTarget(link) === undefined) fs.symlinkSync(`..data/${top}`, link);
  }
  for (const entry of fs.readdirSync(directory)) {
    if (!entry.startsWith("..") && !tops.has(entry)) fs.rmSync(path.join(directory, entry), { force: true });
  }
  if (old !== undefined && old !== fresh) fs.rmSync(path.join(directory, old), { recursive: true, force: true });
  return true;
}

function linkTarget(link: string): string | undefined {
  try {
    return fs.readlinkSync(link);
  } catch {
    // Nothing there yet.
    return undefined;
  }
}

function sameFiles(directory: string, files: ProjectedFiles): boolean {
  if (!fs.existsSync(directory)) return false;
  const found = fs.readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  if (found.length !== files.size) return false;
  return [...files].every(([name, { content }]) => {
    try {
      return fs.readFileSync(path.join(directory, name)).equals(content);
    } catch {
      // A file that is missing differs.
      return false;
    }
  });
}
