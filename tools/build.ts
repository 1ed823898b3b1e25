/** Bundles the command and every role into dist/, one file each. `npm run build`. */
import { chmod, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type BuildOptions } from "esbuild";
import { repositoryRoot } from "./repository.ts";

const rolesDir = join(repositoryRoot, "packages/cli/src/roles");
const outDir = join(repositoryRoot, "dist");
const roles = (await readdir(rolesDir)).filter((file) => file.endsWith(".ts") && !file.includes(".test."));
const started = performance.now();

await rm(join(outDir, ".built"), { force: true });
await rm(join(outDir, "cli"), { recursive: true, force: true });
const common: BuildOptions = {
  outdir: outDir,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  // These two carry a compiled part that is found relative to their own files.
  external: ["lmdb", "koffi"],
  // CommonJS dependencies inside an ESM bundle still call require() for Node's own modules.
  banner: {
    js: 'import{createRequire as polyvirtCreateRequire}from"node:module";const require=polyvirtCreateRequire(import.meta.url);',
  },
  logLevel: "warning",
};
await Promise.all([
  build({
    ...common,
    entryPoints: roles.map((file) => ({ in: join(rolesDir, file), out: file.replace(/\.ts$/, "") })),
  }),
  // The command loads what the subcommand at hand needs, so that it starts at once.
  build({
    ...common,
    entryPoints: [{ in: join(repositoryRoot, "packages/cli/src/main.ts"), out: "polyvirt" }],
    splitting: true,
    chunkNames: "cli/[name]-[hash]",
  }),
]);
// Found by its name in launchers' images, where programs lie as role-images.ts says.
await writeFile(
  join(outDir, "virt-probe"),
  '#!/bin/sh\nexec /opt/polyvirt/bin/node /opt/polyvirt/dist/virt-probe.js "$@"\n',
);
// What was a role once is none any more: a bundle without a source would go on being offered as an image.
const bundles = new Set([...roles.map((file) => file.replace(/\.ts$/, ".js")), "polyvirt.js"]);
const stale = (await readdir(outDir)).filter((file) => file.endsWith(".js") && !bundles.has(file));
for (const file of stale) await rm(join(outDir, file));
// Launchers run as another user, whatever the umask of whoever builds.
await chmod(outDir, 0o755);
for (const entry of await readdir(outDir, { withFileTypes: true })) {
  const runs = entry.isDirectory() || entry.name === "virt-probe";
  await chmod(join(outDir, entry.name), runs ? 0o755 : 0o644);
}
// The start script compares this file's time with the sources to see whether a build is needed.
await writeFile(join(outDir, ".built"), "");
process.stdout.write(`built ${roles.length + 1} bundles in ${Math.round(performance.now() - started)} ms\n`);
