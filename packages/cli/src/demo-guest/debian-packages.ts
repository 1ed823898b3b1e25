import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errors } from "../errors.ts";
import { runCommand } from "../run-command.ts";
import { hostArchitecture, type DemoArchitecture } from "./demo-architecture.ts";

/** Debian's packages of one architecture, to be unpacked and never installed. */
export interface PackageSource {
  /** The package that a meta package such as linux-image-cloud-amd64 stands for now. */
  resolveMetaPackage(name: string): Promise<string>;
  /** Downloads packages and unpacks them below `root`. */
  unpack(names: readonly string[], root: string): Promise<void>;
}

interface SourceOptions {
  readonly architecture: DemoArchitecture;
  /** Keeps apt's own files of another architecture between builds. */
  readonly cacheDir: string;
  /** A folder of this build alone. */
  readonly workDir: string;
}

/**
 * Packages of this machine's architecture come from its own package lists; those of another from lists of their own beside
 * them, so that the machine never learns of a foreign architecture. Needs no root in either case.
 */
export async function openPackageSource({ architecture, cacheDir, workDir }: SourceOptions): Promise<PackageSource> {
  const own = architecture === hostArchitecture();
  const aptDir = join(cacheDir, `apt-${architecture}`);
  if (!own) {
    await mkdir(join(aptDir, "lists/partial"), { recursive: true });
    await mkdir(join(aptDir, "cache/archives/partial"), { recursive: true });
  }
  const options = own ? [] : privateOptions(aptDir, architecture);
  let refreshed = false;
  /** Lists that are missing or too old are fetched once per build. */
  const refresh = async (): Promise<boolean> => {
    if (refreshed || (own && process.getuid?.() !== 0)) return false;
    refreshed = true;
    await runCommand("apt-get", [...options, "update", "-q"]);
    return true;
  };
  return {
    async resolveMetaPackage(name) {
      let dependency = await firstDependency(name, options);
      if (dependency === undefined && (await refresh())) dependency = await firstDependency(name, options);
      if (dependency === undefined) {
        throw errors.DemoGuestPackageMissing(
          `look up the Debian package behind ${name} (${architecture}); run "apt-get update" first`,
          { fields: { package: name, architecture } },
        );
      }
      return dependency;
    },
    async unpack(names, root) {
      const downloads = join(workDir, `packages-${names[0] ?? "none"}`);
      await mkdir(downloads, { recursive: true });
      await mkdir(root, { recursive: true });
      const download = (): Promise<string> =>
        runCommand("apt-get", [...options, "download", "-q", ...names], { cwd: downloads });
      await download().catch(async (error: unknown) => {
        // Old lists name versions that the mirror has dropped.
        if (!(await refresh())) throw error;
        await download();
      });
      for (const file of await readdir(downloads)) {
        if (file.endsWith(".deb")) await runCommand("dpkg-deb", ["-x", join(downloads, file), root]);
      }
    },
  };
}

function privateOptions(aptDir: string, architecture: DemoArchitecture): string[] {
  const settings = {
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    // What this machine has installed is of another architecture and does not matter.
    "Dir::State::status": "/dev/null",
    "Dir::State::lists": join(aptDir, "lists"),
    "Dir::Cache": join(aptDir, "cache"),
    // apt's own user cannot write to a private folder; signatures are checked as ever.
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
    "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
}

async function firstDependency(name: string, options: readonly string[]): Promise<string | undefined> {
  const args = [...options, "depends", "--no-suggests", "--no-recommends", name];
  const output = await runCommand("apt-cache", args).catch(() => "");
  return /^\s*Depends:\s*(\S+)/m.exec(output)?.[1];
}
