import { importImages, openImageCatalogue, openOciStore, openRegistries, pullImage } from "@polyvirt/embedded";
import { parseArguments } from "../arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { createDataDir, openDataDir, type DataDir } from "../data-dir.ts";
import { demoArchitectures, hostArchitecture, type DemoArchitecture } from "../demo-guest/demo-architecture.ts";
import { addDemoImages } from "../demo-guest/demo-images.ts";
import { errors } from "../errors.ts";
import { createProgress } from "../progress.ts";

interface ImageArguments {
  readonly dataDir: DataDir;
  readonly reference: string | undefined;
  /** What follows the reference. */
  readonly second: string | undefined;
  readonly exec: string | undefined;
  readonly architectures: string | undefined;
  readonly agent: boolean;
  readonly context: CommandContext;
}

const actions: Readonly<Record<string, (args: ImageArguments) => Promise<number>>> = {
  "build-demo": buildDemo,
  add,
  load,
  pull,
  list,
  remove,
};

export const image: Command = {
  usage: [
    "usage: polyvirt image build-demo [--arch ARCHITECTURES] [--agent]",
    '       polyvirt image add REFERENCE --exec "PROGRAM ARGUMENTS…"',
    "       polyvirt image load PATH [REFERENCE]",
    "       polyvirt image pull REFERENCE [--arch ARCHITECTURE]",
    "       polyvirt image list",
    "       polyvirt image remove REFERENCE",
    "",
    "  build-demo       make the demo guests' images from Debian's packages: container disks that boot by themselves,",
    "                   with the kernel and initramfs beside them for kernelBoot",
    `  --arch LIST      for which guests: ${demoArchitectures.join(",")} (this machine's own)`,
    "  --agent          also make guests with QEMU's guest agent",
    "  add              let pods with this image run a local command",
    "  load             take images from an OCI layout, an OCI archive or a docker archive; REFERENCE names the one in it",
    "  pull             take an image from its registry, as a pod would",
    "  --exec COMMAND   the program and its first arguments; quotes group words",
    "  --data-dir DIR   the cluster's folder",
  ].join("\n"),
  completions: ["build-demo", "add", "load", "pull", "list", "remove", "--arch", "--agent", "--exec", "--data-dir"],
  async run(args, context) {
    const { values, positionals } = parseArguments(args, {
      exec: { type: "string" },
      arch: { type: "string" },
      agent: { type: "boolean", default: false },
      "data-dir": { type: "string" },
    });
    const [name = "", reference, second] = positionals;
    const action = actions[name];
    if (action === undefined) throw errors.CliUsage(`say what to do: ${Object.keys(actions).join(", ")}`);
    const dataDir = openDataDir(values["data-dir"], context.env);
    await createDataDir(dataDir);
    const { exec, arch: architectures, agent } = values;
    return action({ dataDir, reference, second, exec, architectures, agent, context });
  },
};

async function buildDemo({ dataDir, context, architectures, agent }: ImageArguments): Promise<number> {
  const progress = createProgress(context.stderr);
  const options = { architectures: parseArchitectures(architectures), agent, env: context.env };
  const references = await progress.step("build the demo guests", (note) => addDemoImages(dataDir, options, note));
  context.stdout.write(`${references.join("\n")}\n`);
  return 0;
}

function parseArchitectures(list: string | undefined): DemoArchitecture[] {
  const names = list?.split(",").filter((name) => name !== "") ?? [hostArchitecture()];
  return names.map((name) => {
    const known = demoArchitectures.find((architecture) => architecture === name);
    if (known === undefined)
      throw errors.CliUsage(`--arch: there is no "${name}" among ${demoArchitectures.join(", ")}`);
    return known;
  });
}

async function add({ dataDir, reference, exec }: ImageArguments): Promise<number> {
  if (reference === undefined || exec === undefined) throw errors.CliUsage("name the image and give --exec");
  const command = splitWords(exec);
  if (command.length === 0) throw errors.CliUsage("--exec is empty");
  openImageCatalogue(dataDir.imageCatalogue).add(reference, { command });
  return 0;
}

async function load({ dataDir, reference: path, second: reference, context }: ImageArguments): Promise<number> {
  if (path === undefined) throw errors.CliUsage("name the layout or archive");
  const names = await importImages(path, openOciStore(dataDir.ociStore), { reference });
  context.stdout.write(`${names.join("\n")}\n`);
  return 0;
}

async function pull({ dataDir, reference, architectures, context }: ImageArguments): Promise<number> {
  if (reference === undefined) throw errors.CliUsage("name the image");
  const [architecture = hostArchitecture()] = parseArchitectures(architectures);
  const progress = createProgress(context.stderr);
  const dependencies = { store: openOciStore(dataDir.ociStore), registries: openRegistries(dataDir.registries) };
  const digest = await progress.step(`pull ${reference}`, (note) => {
    const onProgress = ({ bytes, totalBytes }: { bytes: number; totalBytes: number }): void =>
      note(`${Math.floor((bytes / Math.max(totalBytes, 1)) * 10) * 10} % of ${Math.ceil(totalBytes / 1024 ** 2)} MiB`);
    return pullImage({ reference, platform: { os: "linux", architecture }, onProgress }, dependencies);
  });
  context.stdout.write(`${reference}@${digest}\n`);
  return 0;
}

async function list({ dataDir, context }: ImageArguments): Promise<number> {
  for (const [reference, { command }] of openImageCatalogue(dataDir.imageCatalogue).list()) {
    context.stdout.write(`${reference}\t${command.join(" ")}\n`);
  }
  for (const reference of await openOciStore(dataDir.ociStore).list()) context.stdout.write(`${reference}\tfiles\n`);
  return 0;
}

async function remove({ dataDir, reference }: ImageArguments): Promise<number> {
  if (reference === undefined) throw errors.CliUsage("name the image");
  const command = openImageCatalogue(dataDir.imageCatalogue).remove(reference);
  const files = await openOciStore(dataDir.ociStore).remove(reference);
  if (!command && !files)
    throw errors.CliUsage(`remove ${reference}: there is no such image; see "polyvirt image list"`);
  return 0;
}

/** Splits a command line into words; single and double quotes group, and nothing else is special. */
export function splitWords(text: string): string[] {
  return [...text.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
  );
}
