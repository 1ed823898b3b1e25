import {
  annotations,
  attachmentPod,
  kubeVirts,
  labels,
  virtualMachineInstances,
  type VirtualMachineInstance,
} from "@polyvirt/api";
import { apiVersionOf, nodes, pods, type Node, type Pod } from "@polyvirt/api/k8s";
import type { Clock, Logger } from "@polyvirt/core";
import type { Architecture, HypervisorRegistry } from "@polyvirt/hypervisor";
import {
  createController,
  createEventRecorder,
  createInformer,
  createObjectWriter,
  keyOf,
  runAsLeader,
  type Controller,
  type Informer,
  type KubeClient,
} from "@polyvirt/kube";
import { createClusterSettings } from "./cluster-settings.ts";
import { createSilentNodeReconciler } from "./node/silent-nodes.ts";
import { createVmiReconciler } from "./vmi/reconcile.ts";
import { createContextIds } from "./vsock/context-ids.ts";

export interface VirtControllerDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hypervisors: HypervisorRegistry;
  readonly launcherImage: string;
  /** ES modules with hypervisors out of tree, which launchers load too. */
  readonly hypervisorModules?: readonly string[];
  /** Architecture of guests that name none and of a cluster that configures none. */
  readonly hostArchitecture: Architecture;
  /** Where the Lease lives: the namespace of the installation. */
  readonly namespace: string;
  /** Name of this pod: who holds the Lease. */
  readonly identity: string;
}

export interface VirtController {
  /** Works while this process is the leader, until the signal is aborted. Throws KubeLeaseLost when it no longer is. */
  run(signal: AbortSignal): Promise<void>;
}

export function composeVirtController(deps: VirtControllerDeps): VirtController {
  const { client, clock, logger, namespace, identity } = deps;
  const election = { client, clock, logger, namespace, name: "virt-controller", identity };
  return {
    // Only the leader fills caches: a stand-by must stay light.
    run: (signal) => runAsLeader(election, signal, (term) => lead(deps, term)),
  };
}

async function lead(deps: VirtControllerDeps, signal: AbortSignal): Promise<void> {
  const { client, clock, logger } = deps;
  const options = { clock, logger };
  const vmiInformer = createInformer(client, virtualMachineInstances, options);
  const podInformer = createInformer(client, pods, {
    ...options,
    labelSelector: `${labels.role} in (virt-launcher,${attachmentPod.role})`,
    indexes: { owner: ownersOf },
  });
  const kubeVirtInformer = createInformer(client, kubeVirts, options);
  const nodeInformer = createInformer(client, nodes, { ...options, transform: offerOnly });
  const recorder = createEventRecorder({ client, clock, logger, component: "virt-controller", host: deps.identity });
  const settings = createClusterSettings({
    kubeVirts: kubeVirtInformer,
    nodes: nodeInformer,
    hypervisors: deps.hypervisors,
    hostArchitecture: deps.hostArchitecture,
  });
  const reconciler = createVmiReconciler({
    client,
    clock,
    logger,
    recorder,
    settings,
    contextIds: createContextIds({ vmis: () => vmiInformer.list() }),
    vmis: createObjectWriter({ client, type: virtualMachineInstances, informer: vmiInformer }),
    pods: podInformer,
    podWriter: createObjectWriter({ client, type: pods, informer: podInformer }),
    launcherImage: deps.launcherImage,
    hypervisorModules: deps.hypervisorModules ?? [],
  });
  const controller = createController({
    name: "vmi",
    clock,
    logger,
    workers: 8,
    reconcile: (key) => reconciler.reconcile(key),
  });
  const silentNodes = createSilentNodeReconciler({ client, clock, logger, recorder, nodes: nodeInformer });
  const nodeController = createController({
    name: "node",
    clock,
    logger,
    workers: 2,
    reconcile: (key) => silentNodes.reconcile(key),
  });
  const informers = [vmiInformer, podInformer, kubeVirtInformer, nodeInformer];
  for (const informer of informers) informer.start(signal);
  await Promise.race([Promise.all(informers.map((informer) => informer.synced())), aborted(signal)]);
  wake(controller, vmiInformer, podInformer);
  nodeInformer.on({ onSet: (node) => nodeController.enqueue(keyOf(node)) });
  logger.info("watching virtual machine instances", { instances: vmiInformer.list().length });
  await Promise.all([controller.run(signal), nodeController.run(signal)]);
  await recorder.flush();
}

function wake(controller: Controller, vmis: Informer<VirtualMachineInstance>, launcherPods: Informer<Pod>): void {
  vmis.on({
    onSet: (vmi) => controller.enqueue(keyOf(vmi)),
    onDelete: (vmi) => controller.enqueue(keyOf(vmi)),
  });
  const wakeOwner = ({ metadata }: Pod): void => {
    const owner = metadata.ownerReferences?.find(({ controller: controls }) => controls === true);
    if (owner === undefined) return;
    const key = `${metadata.namespace}/${owner.name}`;
    if (owner.kind === virtualMachineInstances.kind) controller.enqueue(key);
    const launcher = owner.kind === pods.kind ? launcherPods.get(key) : undefined;
    // What is attached to a guest belongs to its launcher, which is one of these pods, too.
    if (launcher?.metadata.uid === owner.uid) wakeOwner(launcher);
  };
  launcherPods.on({ onSet: wakeOwner, onDelete: wakeOwner });
}

function ownersOf(pod: Pod): string[] {
  return (pod.metadata.ownerReferences ?? []).flatMap(({ controller, uid }) => (controller === true ? [uid] : []));
}

/** Of a node only what is decided by: large clusters have many. */
function offerOnly({ metadata, status }: Node): Node {
  const { name, uid, resourceVersion, labels: nodeLabels } = metadata;
  const heartbeat = metadata.annotations?.[annotations.heartbeat];
  return {
    apiVersion: apiVersionOf(nodes),
    kind: nodes.kind,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(nodeLabels === undefined ? {} : { labels: nodeLabels }),
      ...(heartbeat === undefined ? {} : { annotations: { [annotations.heartbeat]: heartbeat } }),
    },
    ...(status?.allocatable === undefined ? {} : { status: { allocatable: status.allocatable } }),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
