import {
  daemonSets,
  deployments,
  endpointSlices,
  leases,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  services,
  storageClasses,
  type KubeObject,
  type Node,
  type Pod,
} from "@polyvirt/api/k8s";
import { createEventRecorder, createInformer, type Controller, type Informer } from "@polyvirt/kube";
import { createDaemonSetController } from "./daemon-set-controller.ts";
import { createDeploymentController } from "./deployment-controller.ts";
import { createDisruptionController } from "./disruption-controller.ts";
import { createEndpointSliceController } from "./endpoint-slice-controller.ts";
import { createNodeLifecycleController } from "./node-lifecycle-controller.ts";
import type { ControllerDependencies } from "./object-controller.ts";
import { controllerOf } from "./pod-template.ts";
import { createReplicaSetController } from "./replica-set-controller.ts";
import { createVolumeControllers, ensureStorageClass } from "./volume-controller.ts";

/** The client is authenticated with the rights of Kubernetes' controller manager. */
interface ControllersDependencies extends Omit<ControllerDependencies, "events"> {
  /** Where directories for claims of the class `local` are made; without it nothing is provisioned. */
  readonly volumesDirectory?: string;
}

export interface ComposedControllers {
  run(signal: AbortSignal): Promise<void>;
}

export function composeControllers(dependencies: ControllersDependencies): ComposedControllers {
  const { client, clock } = dependencies;
  const logger = dependencies.logger.with({ component: "controllers" });
  const shared = { clock, logger };
  const owners = { owner: (object: KubeObject) => ownerIndex(object) };
  const informers = {
    deployments: createInformer(client, deployments, shared),
    replicaSets: createInformer(client, replicaSets, { ...shared, indexes: owners }),
    daemonSets: createInformer(client, daemonSets, shared),
    pods: createInformer(client, pods, {
      ...shared,
      indexes: { ...owners, node: (pod: Pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]) },
    }),
    nodes: createInformer(client, nodes, shared),
    services: createInformer(client, services, shared),
    slices: createInformer(client, endpointSlices, shared),
    budgets: createInformer(client, podDisruptionBudgets, shared),
    leases: createInformer(client, leases, { ...shared, namespace: "kube-node-lease" }),
  };
  const eventsFor = (component: string): ReturnType<typeof createEventRecorder> =>
    createEventRecorder({ client, clock, logger, component });
  const common = { ...informers, client, clock, logger };
  const controllers: Controller[] = [
    createReplicaSetController({ ...common, events: eventsFor("replicaset-controller") }),
    createDeploymentController({ ...common, events: eventsFor("deployment-controller") }),
    createDaemonSetController({ ...common, events: eventsFor("daemonset-controller") }),
    createEndpointSliceController(common),
    createDisruptionController({ ...common, events: eventsFor("controllermanager") }),
    createNodeLifecycleController({ ...common, events: eventsFor("node-controller") }),
  ];
  const { volumesDirectory } = dependencies;
  const storage =
    volumesDirectory === undefined
      ? undefined
      : composeStorage({ ...common, directory: volumesDirectory, events: eventsFor("persistentvolume-controller") });
  controllers.push(...(storage?.controllers ?? []));
  return {
    async run(signal) {
      if (storage !== undefined) await ensureStorageClass(client);
      const all: Informer<KubeObject>[] = [...Object.values(informers), ...Object.values(storage?.informers ?? {})];
      for (const informer of all) informer.start(signal);
      await Promise.all(all.map((informer) => informer.synced()));
      await Promise.all(controllers.map((controller) => controller.run(signal)));
    },
  };
}

interface StorageParts extends ControllerDependencies {
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly directory: string;
}

function composeStorage(parts: StorageParts): {
  controllers: Controller[];
  informers: Record<string, Informer<KubeObject>>;
} {
  const { client, clock, logger } = parts;
  const shared = { clock, logger };
  const informers = {
    claims: createInformer(client, persistentVolumeClaims, shared),
    volumes: createInformer(client, persistentVolumes, shared),
    storageClasses: createInformer(client, storageClasses, shared),
  };
  return { informers, controllers: createVolumeControllers({ ...parts, ...informers }) };
}

function ownerIndex(object: KubeObject): string[] {
  const owner = controllerOf(object);
  return owner === undefined ? [] : [owner.uid];
}
