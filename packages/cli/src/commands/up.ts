import { mkdir } from "node:fs/promises";
import { launcherCachePath } from "@polyvirt/api";
import { systemClock } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { parseArguments, parseCount } from "../arguments.ts";
import { connectWith } from "../cluster-client.ts";
import { startCluster, waitForApi } from "../cluster-process.ts";
import type { Command, CommandContext } from "../command.ts";
import {
  createDataDir,
  findClusterProcess,
  openDataDir,
  readClusterState,
  writeClusterState,
  type ClusterState,
  type DataDir,
} from "../data-dir.ts";
import { runDemo } from "../demo.ts";
import { deployRoles } from "../deploy.ts";
import { errors } from "../errors.ts";
import { registerRoleImages } from "../role-images.ts";
import { choosePodNetwork } from "../pod-network.ts";
import { createProgress, type Progress } from "../progress.ts";
import { runClusterHere } from "../run-cluster.ts";

export const up: Command = {
  usage: [
    "usage: polyvirt up [--demo] [--nodes N] [--port PORT] [--pod-network own|shared] [--foreground] [--data-dir DIR]",
    "",
    "  --demo           build two demo guests (amd64 and arm64), start them and show what they say",
    "  --nodes N        how many nodes the cluster has (1); with fewer than before the last ones go, and their pods",
    "  --port PORT      port of the API server on 127.0.0.1 (6443; 0 takes a free one); kept for later starts",
    "  --pod-network    own: each pod has a network of its own, where the machine allows it (the default);",
    "                   shared: pods share the machine's network, each with a loopback address; kept for later starts",
    "  --foreground     stay attached: run the cluster in this process until it is interrupted",
    "  --data-dir DIR   where the cluster keeps everything",
  ].join("\n"),
  completions: ["--demo", "--nodes", "--port", "--pod-network", "--foreground", "--data-dir"],
  async run(args, context) {
    const { values } = parseArguments(args, {
      demo: { type: "boolean", default: false },
      foreground: { type: "boolean", default: false },
      nodes: { type: "string" },
      port: { type: "string" },
      "pod-network": { type: "string" },
      "data-dir": { type: "string" },
    });
    const dataDir = openDataDir(values["data-dir"], context.env);
    const progress = createProgress(context.stderr);
    await prepare(dataDir, context, {
      ...(values.nodes === undefined ? {} : { nodes: parseCount("nodes", values.nodes, { min: 1, max: 50 }) }),
      ...(values.port === undefined ? {} : { port: parseCount("port", values.port, { min: 0, max: 65_535 }) }),
      ...(values["pod-network"] === undefined ? {} : { sharedNetwork: parseSharing(values["pod-network"]) }),
    });
    if (values.foreground) return runClusterHere(dataDir);
    const client = await serveApi(dataDir, context, progress);
    await deployRoles({ client, clock: systemClock, progress, version: context.version });
    if (values.demo) await runDemo({ client, clock: systemClock, dataDir, progress, context });
    client.close();
    context.stderr.write(nextSteps(dataDir, values.demo));
    return 0;
  },
};

function parseSharing(value: string): boolean {
  if (value !== "own" && value !== "shared")
    throw errors.CliUsage(`start with --pod-network ${value}: it is either own or shared`);
  return value === "shared";
}

async function prepare(
  dataDir: DataDir,
  context: CommandContext,
  wanted: { nodes?: number; port?: number; sharedNetwork?: boolean },
): Promise<void> {
  const state = await readClusterState(dataDir);
  await checkRunning(dataDir, state, wanted);
  await createDataDir(dataDir);
  // Pods see the machine's own files, but what they write outside of volumes goes with them: the volume has to be there.
  // Where it cannot be made, launchers find out again what others have found out before.
  await mkdir(launcherCachePath, { recursive: true }).catch(() => undefined);
  registerRoleImages(dataDir, context.bundleDir, context.version);
  await writeClusterState(dataDir, {
    port: wanted.port ?? state?.port ?? 6443,
    nodes: wanted.nodes ?? state?.nodes ?? 1,
    podNetwork: state?.podNetwork ?? (await choosePodNetwork()),
    sharedNetwork: wanted.sharedNetwork ?? state?.sharedNetwork ?? false,
  });
}

/** How many nodes there are and where the API is served is decided when the cluster starts. */
async function checkRunning(
  dataDir: DataDir,
  state: ClusterState | undefined,
  wanted: { nodes?: number; port?: number; sharedNetwork?: boolean },
): Promise<void> {
  if (state === undefined || (await findClusterProcess(dataDir)) === undefined) return;
  if (wanted.sharedNetwork !== undefined && wanted.sharedNetwork !== (state.sharedNetwork ?? false)) {
    throw errors.CliClusterRunning(
      `change --pod-network of the running cluster in ${dataDir.path}: run "polyvirt down" first`,
    );
  }
  for (const name of ["nodes", "port"] as const) {
    const value = wanted[name];
    if (value === undefined || value === state[name]) continue;
    throw errors.CliClusterRunning(
      `change --${name} of the running cluster in ${dataDir.path} from ${state[name]} to ${value}: run "polyvirt down" first`,
    );
  }
}

async function serveApi(dataDir: DataDir, context: CommandContext, progress: Progress): Promise<KubeClient> {
  await progress.step("start the API server", async (note) => {
    if ((await findClusterProcess(dataDir)) !== undefined) return note("already running");
    await startCluster({ dataDir, bundleDir: context.bundleDir, clock: systemClock });
  });
  const client = await connectWith(dataDir.kubeconfig, context.env);
  await waitForApi(client, systemClock);
  return client;
}

function nextSteps(dataDir: DataDir, demo: boolean): string {
  const guest = demo
    ? "  polyvirt console hello           type in the guest's shell (Ctrl+] leaves)\n" +
      "  kubectl describe vmi hello-arm64 what is known of the emulated guest\n"
    : "  polyvirt up --demo               build and start two guests that say hello\n";
  return [
    "\nThe cluster is up. Next:\n",
    `  export KUBECONFIG=${dataDir.kubeconfig}\n`,
    "  kubectl get nodes,vmi,pods -A\n",
    guest,
    "  polyvirt down                    stop everything\n",
  ].join("");
}
