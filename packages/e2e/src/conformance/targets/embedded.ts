import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { repositoryRoot } from "../../cluster.ts";
import { startProgram } from "./child-program.ts";
import { connectionOf, type Target } from "./target.ts";

const entry = join(repositoryRoot, "packages/embedded/src/apiserver/testing/serve.ts");

/** The embedded API server as one bundle, the way `dist/cluster.js` has it; the file is gone with `remove`. */
export async function bundleApiServer(): Promise<{ file: string; remove(): Promise<void> }> {
  // Inside the repository, because the store's compiled part is found from where the bundle lies.
  await mkdir(join(repositoryRoot, ".cache"), { recursive: true });
  const folder = await mkdtemp(join(repositoryRoot, ".cache", "api-server-"));
  const file = join(folder, "api-server.mjs");
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["lmdb", "koffi"],
    banner: { js: 'import{createRequire as makeRequire}from"node:module";const require=makeRequire(import.meta.url);' },
    logLevel: "error",
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts a bundle on a directory, which may hold the state of an earlier start. */
export async function startBundle(bundle: string, directory: string, port = 0): Promise<Target> {
  const kubeconfig = join(directory, "kubeconfig");
  const log = join(directory, `server-${Date.now()}.log`);
  const ready = () => existsSync(log) && readFileSync(log, "utf8").includes("serving on");
  const program = await startProgram(process.execPath, [bundle, directory, String(port)], {
    log,
    ready: () => Promise.resolve(ready()),
  });
  return {
    name: "embedded",
    directory,
    kubeconfig,
    connection: connectionOf(readFileSync(kubeconfig, "utf8")),
    pids: [program.pid],
    stop: () => program.stop(),
  };
}

/** The embedded API server in a process and a directory of its own; both are gone after `stop`. */
export async function startEmbedded(): Promise<Target> {
  const bundle = await bundleApiServer();
  const directory = await mkdtemp(join(tmpdir(), "polyvirt-api-server-"));
  const target = await startBundle(bundle.file, directory);
  return {
    ...target,
    async stop() {
      await target.stop();
      await bundle.remove();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
