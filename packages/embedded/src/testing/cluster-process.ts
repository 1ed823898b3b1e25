/** A whole cluster as one process, for tests that kill it: API server, scheduler, controllers and the asked number of nodes. */
import { setMaxListeners } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { createLogger, systemClock } from "@polyvirt/core";
import { createKubeClient, type KubeClient } from "@polyvirt/kube";
import { createApiServer } from "../apiserver/create-api-server.ts";
import { composeControllers } from "../controllers/compose.ts";
import { composeNode } from "../kubelet/compose.ts";
import { sharedNetwork } from "../kubelet/network/pod-network.ts";
import { composeScheduler } from "../scheduler/compose.ts";

const [data = "", nodeCount = "1", podNetwork = "127.102"] = process.argv.slice(2);
const logger = createLogger({ clock: systemClock, level: "warn", write: (line) => void process.stderr.write(line) });
const portFile = path.join(data, "port");
const port = fs.existsSync(portFile) ? Number(fs.readFileSync(portFile, "utf8")) : 0;
const server = createApiServer({ dataDir: data, port, logger });
await server.start();
fs.writeFileSync(portFile, String(server.port));
server.writeKubeconfig(path.join(data, "kubeconfig"));

const connect = (name: string, ...groups: string[]): KubeClient =>
  createKubeClient({ connection: server.connectionAs(name, groups), clock: systemClock, logger, userAgent: name });
const shared = { clock: systemClock, logger };
const nodes = Array.from({ length: Number(nodeCount) }, (_, index) => {
  const name = `node-${index + 1}`;
  return composeNode(
    {
      name,
      index: index + 1,
      nodesOnMachine: Number(nodeCount),
      directory: path.join(data, "nodes", name),
      network: sharedNetwork(podNetwork, "a test"),
      imageCatalogue: path.join(data, "images.json"),
      imageStore: path.join(data, "oci"),
      apiServer: { host: "127.0.0.1", port: server.port },
      maskedDirectories: [data],
      visiblePaths: [],
      version: "v1.33.0",
      authority: server.authority,
    },
    { ...shared, client: connect(`system:node:${name}`, "system:nodes") },
  );
});
const stop = new AbortController();
setMaxListeners(0, stop.signal);
const parts = [
  composeScheduler({ ...shared, client: connect("system:kube-scheduler") }),
  composeControllers({
    ...shared,
    client: connect("system:kube-controller-manager"),
    volumesDirectory: path.join(data, "volumes"),
  }),
  ...nodes,
];
process.once("SIGTERM", () => void end());
process.stdout.write("ready\n");
await Promise.all(parts.map((part) => part.run(stop.signal)));

/** In the order of the real thing: a store that is still open may keep the process from ending. */
async function end(): Promise<void> {
  await Promise.all(nodes.map((node) => node.shutDown()));
  stop.abort();
  await server.stop();
  process.exit(0);
}
