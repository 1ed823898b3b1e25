import * as fs from "node:fs";
import * as path from "node:path";
import { pods as podResource } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import { isolationGaps, machineFacts } from "@polyvirt/host";
import {
  createEventRecorder,
  createInformer,
  issueCertificate,
  type KeyedCertificate,
  type KubeClient,
} from "@polyvirt/kube";
import { openImageCatalogue } from "../images/image-catalogue.ts";
import { createImageVolumes } from "../images/image-volumes.ts";
import { openOciStore } from "../images/oci-store.ts";
import { openRegistries } from "../images/registry/registries.ts";
import { amountsOf } from "../scheduler/resource-amount.ts";
import { createApiAccess } from "./api-access.ts";
import { DeviceManager } from "./devices/device-manager.ts";
import { Kubelet } from "./kubelet.ts";
import { nodeStatus, type NodeDescription } from "./node-object.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import { openPodGroups } from "./pod-groups.ts";
import { nodePaths, type NodePaths } from "./node-paths.ts";
import { NodeRegistration } from "./node-registration.ts";
import { nodeAddress, PodAddresses } from "./pod-addresses.ts";
import { KubeletServer } from "./server/kubelet-server.ts";

export interface NodeOptions {
  /** Name of the Node object; its certificate is `system:node:<name>`. */
  readonly name: string;
  /** 1 … 63; decides the node's and its pods' addresses. */
  readonly index: number;
  /** How many nodes share this machine. */
  readonly nodesOnMachine: number;
  /** The node's own folder. */
  readonly directory: string;
  /** Shared by all nodes of the machine. */
  readonly network: PodNetwork;
  readonly imageCatalogue: string;
  readonly imageStore: string;
  /** File with the settings of registries; without it, image volumes come from the store alone. */
  readonly registries?: string;
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly maskedDirectories: readonly string[];
  readonly visiblePaths: readonly string[];
  readonly version: string;
  /** Signs the certificate of the node's HTTPS endpoint, and has signed the API server's client certificate. */
  readonly authority?: KeyedCertificate;
  readonly labels?: Readonly<Record<string, string>>;
  readonly maxPods?: number;
}

interface NodeDependencies {
  /** Authenticated as `system:node:<name>`. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ComposedNode {
  readonly name: string;
  readonly address: string;
  /** Registers the node and runs its pods until the signal; containers go on. */
  run(signal: AbortSignal): Promise<void>;
  /** Stops all containers within their grace periods, or at once with the signal, before the node goes away on purpose. */
  shutDown(hurry?: AbortSignal): Promise<void>;
}

const kubeletPort = 10250;

export function composeNode(options: NodeOptions, dependencies: NodeDependencies): ComposedNode {
  const { client, clock } = dependencies;
  const logger = dependencies.logger.with({ node: options.name });
  const paths = nodePaths(options.directory);
  for (const directory of [paths.kubelet, paths.host, paths.runtime])
    fs.mkdirSync(directory, { recursive: true, mode: 0o755 });
  const address = nodeAddress(options.network.prefix, options.index);
  const facts = machineFacts(options.directory);
  const store = openOciStore(options.imageStore);
  const platform = { os: "linux", architecture: facts.architecture };
  const gaps = isolationGaps();
  if (gaps.length > 0) logger.warn("containers are less isolated than elsewhere", { gaps });
  const describe = (): NodeDescription => ({
    name: options.name,
    address,
    port: kubeletPort,
    facts,
    version: options.version,
    maxPods: options.maxPods ?? 250,
    shares: options.nodesOnMachine,
    labels: options.labels ?? {},
    network: options.network,
    devices: devices.amounts(),
    isolationGaps: gaps,
  });
  const devices = new DeviceManager({
    directory: path.join(paths.kubelet, "device-plugins"),
    recordFile: path.join(paths.runtime, "..", "devices.json"),
    clock,
    logger,
    onChange: () =>
      void registration
        .updateStatus()
        .catch((error: unknown) =>
          logger.warn("the node's devices could not be reported", { error: describeError(error) }),
        ),
  });
  const informer = createInformer(client, podResource, {
    clock,
    logger,
    fieldSelector: `spec.nodeName=${options.name}`,
  });
  const kubelet = new Kubelet({
    pods: informer,
    addresses: new PodAddresses(options.network.prefix, options.index),
    context: {
      nodeName: options.name,
      nodeAddress: address,
      paths,
      api: createApiAccess(client, clock),
      events: createEventRecorder({ client, clock, logger, component: "kubelet", host: options.name }),
      clock,
      logger,
      catalogue: openImageCatalogue(options.imageCatalogue),
      images: createImageVolumes({
        store,
        platform,
        ...(options.registries === undefined ? {} : { registries: openRegistries(options.registries) }),
      }),
      network: options.network,
      groups: openPodGroups(paths, options.name, clock),
      devices,
      allocatable: () => amountsOf(nodeStatus(describe(), undefined, 0).allocatable),
      apiServer: options.apiServer,
      maskedDirectories: options.maskedDirectories,
      visiblePaths: options.visiblePaths,
    },
  });
  const imageFiles = [options.imageCatalogue, path.join(options.imageStore, "index.json")];
  const server = composeServer(options, { address, kubelet, paths, clock, logger });
  const registration = new NodeRegistration({ client, clock, logger, describe });
  return {
    name: options.name,
    address,
    async run(signal) {
      await server?.listen();
      await devices.start();
      await registration.register();
      informer.start(signal);
      const stopWatching = watchFiles(imageFiles, () => kubelet.imagesChanged());
      await Promise.all([registration.run(signal), kubelet.run(signal)]);
      stopWatching();
      await devices.stop();
      await server?.close();
    },
    shutDown: (hurry) => kubelet.shutDown(hurry),
  };
}

/** Files that are replaced by renaming are watched through their directories. */
function watchFiles(files: readonly string[], onChange: () => void): () => void {
  const watchers = files.map((file) => {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const watcher = fs.watch(path.dirname(file), { persistent: false }, (_event, name) => {
      if (name === path.basename(file)) onChange();
    });
    // A directory that goes away only means that additions are found by the next retry.
    watcher.on("error", () => {});
    return watcher;
  });
  return () => watchers.forEach((watcher) => watcher.close());
}

const certificateDays = 365;

/** A node without an authority has no endpoint: its logs and exec are not reachable, its pods run all the same. */
function composeServer(
  options: NodeOptions,
  parts: { address: string; kubelet: Kubelet; paths: NodePaths; clock: Clock; logger: Logger },
): KubeletServer | undefined {
  if (options.authority === undefined) return undefined;
  const { certificate, key } = issueCertificate(options.authority, {
    commonName: `system:node:${options.name}`,
    organizations: ["system:nodes"],
    dnsNames: [options.name],
    ipAddresses: [parts.address],
    usage: "server",
    days: certificateDays,
  });
  return new KubeletServer({
    ...parts,
    port: kubeletPort,
    serving: { certificate, key, clientAuthority: options.authority.certificate },
    findPod: (namespace, name) => parts.kubelet.recordOf(namespace, name),
  });
}
