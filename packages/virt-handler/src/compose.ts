import { join } from "node:path";
import {
  handlerPaths,
  isRunning,
  kubeVirts,
  labels,
  virtualMachineInstances,
  type VirtualMachineInstance,
} from "@polyvirt/api";
import type { Clock, Logger } from "@polyvirt/core";
import { resolveClusterConfig, type Architecture } from "@polyvirt/hypervisor";
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
import { createInstanceReconciler } from "./instance/reconcile.ts";
import { openGhostRecords, type GhostRecord } from "./launcher/ghost-records.ts";
import { createLauncherDirectory } from "./launcher/launcher-directory.ts";
import { createLaunchers } from "./launcher/launchers.ts";
import { guestArchitectureLabels } from "./node/guest-architectures.ts";
import { runHeartbeat } from "./node/heartbeat.ts";
import { syncOptions } from "./sync-options.ts";

/** A guest that has just been started has nothing to say yet. */
const FIRST_POLL_MS = 3_000;

export interface VirtHandlerDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly hostArchitecture: Architecture;
  /** Whether an emulator is installed where launchers of this node run. */
  readonly hasEmulator: (architecture: Architecture) => boolean;
  /** Where consoles are served. */
  readonly console: { readonly host: string; readonly port: number; readonly certificateDirectory: string };
  /** Folders shared with the node; tests put them elsewhere. */
  readonly paths?: { readonly pods: string; readonly state: string };
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
  const { client, clock, logger, nodeName } = deps;
  const paths = deps.paths ?? handlerPaths;
  const directory = createLauncherDirectory(paths.pods);
  const recorder = createEventRecorder({ client, clock, logger, component: "virt-handler", host: nodeName });
  const vmis = createInformer(client, virtualMachineInstances, {
    clock,
    logger,
    labelSelector: `${labels.nodeName}=${nodeName}`,
  });
  const configuration = createInformer(client, kubeVirts, { clock, logger });
  const launchers = createLaunchers({
    directory,
    clock,
    logger,
    ghosts: openGhostRecords(join(paths.state, "ghost-records"), logger),
    onChange: ({ namespace, name }) => controller.enqueue(`${namespace}/${name}`),
    onEvent: (record, event) => relay(recorder, vmis, record, event),
  });
  const config = () =>
    resolveClusterConfig(configuration.list()[0]?.spec?.configuration, { hostArchitecture: deps.hostArchitecture });
  const writer = createObjectWriter({ client, type: virtualMachineInstances, informer: vmis });
  const reconciler = createInstanceReconciler({
    clock,
    logger,
    recorder,
    nodeName,
    hostArchitecture: deps.hostArchitecture,
    vmis: writer,
    launchers,
    syncOptions: () => syncOptions(config()),
  });
  const controller: Controller = createController({
    name: "instance",
    clock,
    logger,
    workers: 16,
    backoff: { initialBackoffMs: 50, maxBackoffMs: 15_000 },
    reconcile: (key) => reconciler.reconcile(key),
  });
  const poller = createGuestPoller({ clock, nodeName, vmis: writer, launchers });
  const guests = createController({
    name: "guest-info",
    clock,
    logger,
    workers: 4,
    backoff: { initialBackoffMs: 5_000, maxBackoffMs: 120_000 },
    reconcile: (key) => poller.poll(key),
  });
  for (const informer of [vmis, configuration]) informer.start(signal);
  await Promise.race([Promise.all([vmis.synced(), configuration.synced()]), aborted(signal)]);
  wake(controller, vmis, launchers.known());
  vmis.on({
    onSet: (vmi, old) => isRunning(vmi) && !(old && isRunning(old)) && guests.enqueueAfter(keyOf(vmi), FIRST_POLL_MS),
  });
  const consoles = await startConsoleServer({
    ...deps.console,
    nodeName,
    directory,
    launchers,
    clock,
    logger,
    findVmi: (key) => vmis.get(key),
    readCertificate: () => readServerCertificate(deps.console.certificateDirectory),
  });
  setReady(true);
  const heartbeat = runHeartbeat(
    { client, clock, logger, nodeName, labels: () => guestArchitectureLabels(deps) },
    signal,
  );
  logger.info("looking after guests", { node: nodeName, instances: vmis.list().length });
  await Promise.all([controller.run(signal), guests.run(signal)]);
  setReady(false);
  await Promise.all([heartbeat, consoles.close(), launchers.close(), recorder.flush()]);
}

/** Every VMI of the node, and launchers of an earlier life whose VMI may have vanished meanwhile. */
function wake(controller: Controller, vmis: Informer<VirtualMachineInstance>, ghosts: readonly GhostRecord[]): void {
  vmis.on({
    onSet: (vmi) => controller.enqueue(keyOf(vmi)),
    onDelete: (vmi) => controller.enqueue(keyOf(vmi)),
  });
  for (const { namespace, name } of ghosts) controller.enqueue(`${namespace}/${name}`);
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
