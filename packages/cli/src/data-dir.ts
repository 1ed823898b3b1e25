import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { identifyProcess, isAlive, type ProcessIdentity } from "@polyvirt/host";
import { errors } from "./errors.ts";

/** The layout of a cluster's folder. Everything that a cluster keeps is in here. */
export interface DataDir {
  readonly path: string;
  readonly kubeconfig: string;
  readonly clusterLog: string;
  readonly imageCatalogue: string;
  readonly ociStore: string;
  /** How registries are reached; the administrator may write it. */
  readonly registries: string;
  readonly nodes: string;
}

/** What must stay the same between starts, so that kubeconfigs keep working. */
export interface ClusterState {
  readonly formatVersion: number;
  readonly port: number;
  readonly nodes: number;
  /** Its second octet is that of all addresses of this cluster's nodes and pods; such as 127.70. */
  readonly podNetwork: string;
  /** Whether pods share the machine's network although they could have their own. */
  readonly sharedNetwork?: boolean;
}

const formatVersion = 1;

export function openDataDir(path: string | undefined, env: Readonly<Record<string, string | undefined>>): DataDir {
  const isRoot = process.getuid?.() === 0;
  const home = isRoot ? "/var/lib/polyvirt" : join(env["XDG_DATA_HOME"] ?? join(homedir(), ".local/share"), "polyvirt");
  const folder = resolve(path ?? env["POLYVIRT_DATA_DIR"] ?? home);
  return {
    path: folder,
    kubeconfig: join(folder, "kubeconfig"),
    clusterLog: join(folder, "cluster.log"),
    imageCatalogue: join(folder, "images.json"),
    ociStore: join(folder, "oci"),
    registries: join(folder, "registries.json"),
    nodes: join(folder, "nodes"),
  };
}

/** Secrets lie in the folder, so only its owner may look into it. */
export async function createDataDir(dataDir: DataDir): Promise<void> {
  await mkdir(dataDir.path, { recursive: true, mode: 0o700 });
  await chmod(dataDir.path, 0o700);
}

export async function readClusterState(dataDir: DataDir): Promise<ClusterState | undefined> {
  const text = await readFile(join(dataDir.path, "cluster.json"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // Written by writeClusterState; a newer format is refused below before anything of it is used.
  const state = JSON.parse(text) as ClusterState;
  if (state.formatVersion > formatVersion) {
    throw errors.CliStateTooNew(
      `open ${dataDir.path}: its format is ${state.formatVersion}, this version knows ${formatVersion}`,
      { fields: { dataDir: dataDir.path } },
    );
  }
  return state;
}

export async function writeClusterState(dataDir: DataDir, state: Omit<ClusterState, "formatVersion">): Promise<void> {
  await writeAtomically(join(dataDir.path, "cluster.json"), { formatVersion, ...state });
}

/** The cluster process says who it is, so that `down` and a second `up` meet it and no other process. */
export async function recordClusterProcess(dataDir: DataDir): Promise<void> {
  await writeAtomically(join(dataDir.path, "cluster.pid"), identifyProcess(process.pid));
}

/** The running cluster process of this folder, if there is one. */
export async function findClusterProcess(dataDir: DataDir): Promise<ProcessIdentity | undefined> {
  const text = await readFile(join(dataDir.path, "cluster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // Written by recordClusterProcess; isAlive compares every part with the kernel's own record.
  const identity = JSON.parse(text) as ProcessIdentity;
  return isAlive(identity) ? identity : undefined;
}

async function writeAtomically(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
