import * as fs from "node:fs";
import { errors } from "../errors.ts";
import { maxIsoName, type IsoFile } from "./iso-image.ts";

/** A Secret or ConfigMap has at most a mebibyte; this leaves room for several in one volume. */
const maxTotalBytes = 16 * 1024 * 1024;

/**
 * All files of a volume that the kubelet filled. Its own links (`..data`) are followed: nobody but the kubelet writes there.
 */
export function readMountedFiles(directory: string, field: string): IsoFile[] {
  const files: IsoFile[] = [];
  let total = 0;
  const collect = (folder: string, prefix: string): void => {
    for (const name of fs.readdirSync(folder).toSorted()) {
      // The kubelet's own: versions of the content, of which the visible names are links into the current one.
      if (name.startsWith("..")) continue;
      if (name.length > maxIsoName)
        throw refused(`the name ${name.slice(0, 40)}… has more than ${maxIsoName} characters`);
      const path = `${folder}/${name}`;
      const stat = fs.statSync(path);
      if (stat.isDirectory()) collect(path, `${prefix}${name}/`);
      if (!stat.isFile()) continue;
      total += stat.size;
      if (total > maxTotalBytes) throw refused(`it holds more than ${maxTotalBytes} bytes`);
      files.push({ path: `${prefix}${name}`, content: fs.readFileSync(path) });
    }
  };
  const refused = (why: string): Error =>
    errors.LauncherVolumeUnsupported(`make a disk of ${field}: ${why}`, { fields: { field } });
  if (fs.existsSync(directory)) collect(directory, "");
  return files;
}

/** One file under any of its names; undefined when there is none of them. */
export function readMountedFile(directory: string, names: readonly string[]): Uint8Array | undefined {
  const found = names.map((name) => `${directory}/${name}`).find((path) => fs.existsSync(path));
  return found === undefined ? undefined : fs.readFileSync(found);
}
