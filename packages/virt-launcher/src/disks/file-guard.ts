import * as fs from "node:fs";
import { openBeneath, openTrustedDirectory } from "@polyvirt/host";
import { errors } from "../errors.ts";

interface GuardedFile {
  readonly mount: string;
  readonly name: string;
  readonly field: string;
  readonly identity: string;
}

/**
 * Watches over images that lie where others may write too: claims and folders of the node.
 *
 * SAFETY: the stacks open disks by path, because a definition has to make sense on another node as well. So each file is
 * opened here first, without following links, and its identity is kept; when the VMM has opened its disks, the same look is
 * taken again. A file that was exchanged in between ends the machine before anybody relies on it.
 */
export class FileGuard {
  readonly #files: GuardedFile[] = [];

  /** The path of a regular file directly in `mount`; refuses links and everything else. */
  hold(mount: string, name: string, field: string): string {
    const identity = identify(mount, name);
    if (identity === undefined) {
      throw errors.LauncherImageRefused(`use ${mount}/${name} for ${field}: there is no regular file`, {
        fields: { field, path: `${mount}/${name}` },
      });
    }
    this.#files.push({ mount, name, field, identity });
    return `${mount}/${name}`;
  }

  /** Throws when a file is not the one that it was. */
  verify(): void {
    for (const { mount, name, field, identity } of this.#files) {
      if (identify(mount, name) === identity) continue;
      throw errors.LauncherImageRefused(`use ${mount}/${name} for ${field}: it was exchanged during the start`, {
        fields: { field, path: `${mount}/${name}` },
      });
    }
  }
}

function identify(mount: string, name: string): string | undefined {
  if (name === "" || name.includes("/")) return undefined;
  try {
    using root = openTrustedDirectory(mount);
    using file = openBeneath(root, name, { expect: "file" });
    const { dev, ino } = fs.statSync(file.path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
