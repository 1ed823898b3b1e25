import { setMaxListeners } from "node:events";
import { join } from "node:path";
import { createLogger, describeError, systemClock, type Logger } from "@polyvirt/core";
import {
  composeControllers,
  composeNode,
  composeScheduler,
  createApiServer,
  openPodNetwork,
  podGateway,
  serverVersion,
  sharedNetwork,
  type ApiServer,
  type ComposedNode,
} from "@polyvirt/embedded";
import { createKubeClient, type KubeClient } from "@polyvirt/kube";
import { readClusterState, recordClusterProcess, writeClusterState, type DataDir } from "./data-dir.ts";
import { errors } from "./errors.ts";
import { podNetworkOctet } from "./pod-network.ts";
import { nodeName, retireNodes, surplusNodes } from "./retire-nodes.ts";

const stopLimitMs = 3_000;

/** The embedded cluster as one process: API server, scheduler, workload controllers, and the kubelets of all nodes. */
async function runCluster(dataDir: DataDir, logger: Logger, signal: AbortSignal, hurry: AbortSignal): Promise<void> {
  const state = await readClusterState(dataDir);
  if (state === undefined) throw errors.CliClusterNotRunning(`find cluster.json in ${dataDir.path}; use "polyvirt up"`);
  const octet = podNetworkOctet(state.podNetwork);
  const server = createApiServer({
    dataDir: dataDir.path,
    port: state.port,
    certificateAddresses: [podGateway(octet)],
    logger,
  });
  await server.start();
  // A port that was chosen freely is kept, so that kubeconfigs stay true.
  if (state.port !== server.port) await writeClusterState(dataDir, { ...state, port: server.port });
  server.writeKubeconfig(dataDir.kubeconfig);

  const surplus = await surplusNodes(dataDir.nodes, state.nodes);
  const mostNodes = Math.max(state.nodes, ...surplus);
  const network =
    state.sharedNetwork === true
      ? sharedNetwork(state.podNetwork, "the cluster was started with --pod-network shared")
      : await openPodNetwork({ octet, nodes: mostNodes, apiServerPort: server.port, logger });
  await server.advertise(network.apiServerHost);
  const connect = (name: string, ...groups: string[]): KubeClient =>
    createKubeClient({ connection: server.connectionAs(name, groups), clock: systemClock, logger, userAgent: name });
  const compose = (name: string, index: number): ComposedNode =>
    composeNode(
      {
        name,
        index,
        nodesOnMachine: state.nodes,
        directory: join(dataDir.nodes, name),
        network,
        imageCatalogue: dataDir.imageCatalogue,
        imageStore: dataDir.ociStore,
        registries: dataDir.registries,
        apiServer: { host: network.apiServerHost, port: server.port },
        // Pods see the machine's files, but not the cluster's own secrets.
        maskedDirectories: [dataDir.path],
        visiblePaths: [],
        version: serverVersion.gitVersion,
        authority: server.authority,
      },
      { client: connect(`system:node:${name}`, "system:nodes"), clock: systemClock, logger },
    );
  const client = connect("polyvirt", "system:masters");
  await retireNodes(surplus, { client, clock: systemClock, logger, directory: dataDir.nodes, compose });
  const nodes = Array.from({ length: state.nodes }, (_, index) => compose(nodeName(index + 1), index + 1));
  const scheduler = composeScheduler({ client: connect("system:kube-scheduler"), clock: systemClock, logger });
  const controllers = composeControllers({
    client: connect("system:kube-controller-manager"),
    clock: systemClock,
    logger,
    volumesDirectory: join(dataDir.path, "volumes"),
  });
  const stop = new AbortController();
  // Every watch of every part listens to this one signal.
  setMaxListeners(0, stop.signal);
  const running = Promise.all([scheduler, controllers, ...nodes].map((part) => part.run(stop.signal)));
  await recordClusterProcess(dataDir);
  logger.info("cluster is up", { server: server.url, nodes: state.nodes });
  await Promise.race([running, aborted(signal)]);
  logger.info("stopping pods");
  await Promise.all(nodes.map((node) => node.shutDown(hurry)));
  // What could not be removed is found by the next start, or by `reset`; stopping goes on.
  await network.remove().catch((error: unknown) => {
    logger.warn("the pods' network could not be removed", { error: describeError(error) });
  });
  await stopServing(server, stop, running);
}

async function stopServing(server: ApiServer, stop: AbortController, running: Promise<unknown>): Promise<void> {
  stop.abort();
  // What is cut off by our own stop has nothing more to tell, and what does not end is not waited for.
  await Promise.race([running.catch(() => {}), systemClock.sleep(stopLimitMs)]);
  await server.stop();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * Runs the cluster in this process until it is interrupted; returns the exit code. The first interruption gives pods their
 * grace periods, the second kills them.
 */
export async function runClusterHere(dataDir: DataDir): Promise<number> {
  const stop = new AbortController();
  const hurry = new AbortController();
  const interrupt = (): void => (stop.signal.aborted ? hurry : stop).abort();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, interrupt);
  const write = (line: string): void => void process.stdout.write(line);
  const logger = createLogger({ clock: systemClock, write, fields: { role: "cluster" } });
  try {
    await runCluster(dataDir, logger, stop.signal, hurry.signal);
    return 0;
  } catch (error) {
    logger.error(describeError(error));
    return 1;
  }
}
