import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../run-command.ts";
import { errors } from "../errors.ts";

/** Downloads Debian packages with apt and unpacks them below `root`, without installing anything. */
export async function fetchDebianPackages(names: readonly string[], workDir: string, root: string): Promise<void> {
  const downloads = join(workDir, "packages");
  await mkdir(downloads, { recursive: true });
  await mkdir(root, { recursive: true });
  await runCommand("apt-get", ["download", "-q", ...names], { cwd: downloads });
  for (const file of await readdir(downloads)) {
    if (file.endsWith(".deb")) await runCommand("dpkg-deb", ["-x", join(downloads, file), root]);
  }
}

/** The package that a meta package such as linux-image-cloud-amd64 stands for now. */
export async function resolveMetaPackage(name: string): Promise<string> {
  let dependency = await firstDependency(name);
  if (dependency === undefined && process.getuid?.() === 0) {
    // A fresh machine has no package lists yet.
    await runCommand("apt-get", ["update", "-q"]);
    dependency = await firstDependency(name);
  }
  if (dependency === undefined) {
    throw errors.DemoGuestPackageMissing(`look up the Debian package behind ${name}; run "apt-get update" first`, {
      fields: { package: name },
    });
  }
  return dependency;
}

async function firstDependency(name: string): Promise<string | undefined> {
  const output = await runCommand("apt-cache", ["depends", "--no-suggests", "--no-recommends", name]).catch(() => "");
  return /^\s*Depends:\s*(\S+)/m.exec(output)?.[1];
}
