import { join } from "node:path";
import {
  handlerPaths,
  isRunning,
  kubeVirts,
  labels,
  virtualMachineInstances,
  type KubeVirt,
  type VirtualMachineInstance,
} from "@polyvirt/api";
import type { Clock, Logger } from "@polyvirt/core";
import {
  resolveClusterConfig,
  type Architecture,
  type ClusterConfig,
  type HypervisorRegistry,
} from "@polyvirt/hypervisor";
import {
  createController,
  createEventRecorder,
  createInformer,
  createObjectWriter,
  keyOf,
  type Controller,
  type EventRecorder,
  type Informer,
  type KubeClient,
} from "@polyvirt/kube";
import { readServerCertificate } from "./console/certificate-files.ts";
import { startConsoleServer } from "./console/console-server.ts";
import { createGuestPoller } from "./guest/guest-poller.ts";
import { createVolumeMounts } from "./hotplug/volume-mounts.ts";
import { createInstanceReconciler, type InstanceReconcilerDeps } from "./instance/reconcile.ts";
import { openGhostRecords, type GhostRecord } from "./launcher/ghost-records.ts";
import { createLauncherDirectory } from "./launcher/launcher-directory.ts";
import { createLaunchers } from "./launcher/launchers.ts";
import { createGuestNetwork } from "./network/guest-network.ts";
import { openNetworkRecords } from "./network/network-records.ts";
import { createNodeSide } from "./node/node-side.ts";
import { syncOptions } from "./sync-options.ts";
import { createDomainTuning } from "./tuning/domain-tuning.ts";

/** A guest that has just been started has nothing to say yet. */
const FIRST_POLL_MS = 3_000;

export interface VirtHandlerDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly hostArchitecture: Architecture;
  readonly hypervisors: Pick<HypervisorRegistry, "select">;
  /** Where consoles are served. */
  readonly console: { readonly host: string; readonly port: number; readonly certificateDirectory: string };
  /** Folders shared with the node; tests put them elsewhere. */
  readonly paths?: Readonly<Record<keyof typeof handlerPaths, string>>;
}

export interface VirtHandler {
  isReady(): boolean;
  /** Looks after the guests of this node until the signal is aborted; guests go on without it. */
  run(signal: AbortSignal): Promise<void>;
}

export function composeVirtHandler(deps: VirtHandlerDeps): VirtHandler {
  let ready = false;
  return {
    isReady: () => ready,
    async run(signal) {
      await serveNode(deps, signal, (value) => (ready = value));
    },
  };
}

async function serveNode(deps: VirtHandlerDeps, signal: AbortSignal, setReady: (ready: boolean) => void) {
  const { client, clock, logger, nodeName, paths = handlerPaths } = deps;
  const vmis = createInformer(client, virtualMachineInstances, {
    clock,
    logger,
    labelSelector: `${labels.nodeName}=${nodeName}`,
  });
  const installations = createInformer(client, kubeVirts, { clock, logger });
  const configuration = () => installations.list()[0]?.spec?.configuration;
  const config = createConfigReader(installations, deps.hostArchitecture);
  const node = createNodeSide({ ...deps, paths, config, configuration });
  const recorder = createEventRecorder({ client, clock, logger, component: "virt-handler", host: nodeName });
  const guests = composeGuests({
    ...deps,
    paths,
    vmis,
    recorder,
    config,
    options: (prepared) => syncOptions(config(), node.topology, prepared),
  });
  for (const informer of [vmis, installations]) informer.start(signal);
  await Promise.race([Promise.all([vmis.synced(), installations.synced()]), aborted(signal)]);
  installations.on({
    // Its status changes often and says nothing to nodes.
    onSet: (installation, old) => installation.metadata.generation !== old?.metadata.generation && node.wake(),
  });
  guests.watch();
  const consoles = await startConsoleServer({
    ...deps.console,
    nodeName,
    directory: guests.directory,
    launchers: guests.launchers,
    clock,
    logger,
    findVmi: (key) => vmis.get(key),
    readCertificate: () => readServerCertificate(deps.console.certificateDirectory),
  });
  setReady(true);
  logger.info("looking after guests", { node: nodeName, instances: vmis.list().length });
  await Promise.all([node.run(signal), guests.run(signal)]);
  setReady(false);
  await Promise.all([consoles.close(), guests.launchers.close(), recorder.flush()]);
}

interface GuestsDeps extends VirtHandlerDeps {
  readonly paths: Readonly<Record<keyof typeof handlerPaths, string>>;
  readonly vmis: Informer<VirtualMachineInstance>;
  readonly recorder: EventRecorder;
  readonly options: InstanceReconcilerDeps["syncOptions"];
  readonly config: () => ClusterConfig;
}

/** What is done for guests: one controller drives their launchers, another asks them about themselves. */
function composeGuests({ vmis, recorder, options, paths, ...deps }: GuestsDeps) {
  const { client, clock, logger, nodeName, hostArchitecture } = deps;
  const directory = createLauncherDirectory(paths.pods);
  const launchers = createLaunchers({
    directory,
    clock,
    logger,
    ghosts: openGhostRecords(join(paths.state, "ghost-records"), logger),
    onChange: ({ namespace, name }) => controller.enqueue(`${namespace}/${name}`),
    onEvent: (record, event) => relay(recorder, vmis, record, event),
  });
  const writer = createObjectWriter({ client, type: virtualMachineInstances, informer: vmis });
  const shared = { clock, logger, nodeName, hostArchitecture, vmis: writer, launchers };
  const network = createGuestNetwork({ records: openNetworkRecords(join(paths.state, "network")), logger });
  const tuning = createDomainTuning({ config: deps.config, hypervisors: deps.hypervisors });
  const volumeMounts = createVolumeMounts(directory);
  const parts = { recorder, network, tuning, volumeMounts };
  const reconciler = createInstanceReconciler({ ...shared, ...parts, syncOptions: options });
  const controller: Controller = createController({
    name: "instance",
    clock,
    logger,
    workers: 16,
    backoff: { initialBackoffMs: 50, maxBackoffMs: 15_000 },
    reconcile: (key) => reconciler.reconcile(key),
  });
  const poller = createGuestPoller(shared);
  const polls = createController({
    name: "guest-info",
    clock,
    logger,
    workers: 4,
    backoff: { initialBackoffMs: 5_000, maxBackoffMs: 120_000 },
    reconcile: (key) => poller.poll(key),
  });
  return {
    directory,
    launchers,
    /** Every VMI of the node, and launchers of an earlier life whose VMI may have vanished meanwhile. */
    watch() {
      const enqueue = (vmi: VirtualMachineInstance): void => controller.enqueue(keyOf(vmi));
      vmis.on({ onSet: enqueue, onDelete: enqueue });
      for (const { namespace, name } of launchers.known()) controller.enqueue(`${namespace}/${name}`);
      vmis.on({
        onSet: (vmi, old) =>
          isRunning(vmi) && !(old && isRunning(old)) && polls.enqueueAfter(keyOf(vmi), FIRST_POLL_MS),
      });
    },
    run: (signal: AbortSignal) => Promise.all([controller.run(signal), polls.run(signal)]),
  };
}

/** Reads the configuration anew only when it has changed. */
function createConfigReader(installations: Informer<KubeVirt>, hostArchitecture: Architecture): () => ClusterConfig {
  let known: { readonly of: KubeVirt | undefined; readonly config: ClusterConfig } | undefined;
  return () => {
    const [installation] = installations.list();
    if (known === undefined || known.of !== installation) {
      const config = resolveClusterConfig(installation?.spec?.configuration, { hostArchitecture });
      known = { of: installation, config };
    }
    return known.config;
  };
}

/** Events that a launcher has to tell appear on its VMI. */
function relay(
  recorder: EventRecorder,
  vmis: Informer<VirtualMachineInstance>,
  record: GhostRecord,
  event: { type?: "Normal" | "Warning"; reason?: string; message?: string },
): void {
  const vmi = vmis.get(`${record.namespace}/${record.name}`);
  if (vmi?.metadata.uid !== record.uid) return;
  recorder.record(vmi, event.type ?? "Normal", event.reason ?? "Unknown", event.message ?? "");
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
