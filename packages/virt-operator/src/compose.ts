import { setMaxListeners } from "node:events";
import type { Clock, Logger } from "@polyvirt/core";
import { kubeVirts } from "@polyvirt/api";
import {
  createController,
  createEventRecorder,
  createInformer,
  keyOf,
  runAsLeader,
  type KubeClient,
} from "@polyvirt/kube";
import type { HypervisorRegistry } from "@polyvirt/hypervisor";
import type { RoleImages } from "./images.ts";
import { createInstalledObjects } from "./installed-objects.ts";
import { reconcileKubeVirt } from "./reconcile.ts";

const virtOperator = "virt-operator";

export interface VirtOperatorDeps {
  readonly client: Pick<KubeClient, "get" | "list" | "watch" | "create" | "update" | "patch" | "apply" | "delete">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where virt-operator runs, and therefore where it installs the roles. */
  readonly namespace: string;
  readonly images: RoleImages;
  readonly version: string;
  /** Kubernetes' name of this machine's architecture: guests get it when they do not say. */
  readonly architecture: string;
  readonly hypervisors: HypervisorRegistry;
  /** ES modules that some of them come from. */
  readonly hypervisorModules?: readonly string[];
  /** Name of this pod: of several replicas one works at a time. */
  readonly identity: string;
}

export interface VirtOperator {
  /** Works until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** Wires virt-operator: one controller for KubeVirt objects, woken also by every change to what it has made. */
export function composeVirtOperator(deps: VirtOperatorDeps): VirtOperator {
  const { client, clock, logger } = deps;
  const kubevirtInformer = createInformer(client, kubeVirts, { clock, logger });
  const objects = createInstalledObjects(deps);
  const recorder = createEventRecorder({ client, clock, logger, component: virtOperator });
  const reconcileDeps = { ...deps, objects, recorder };
  const controller = createController({
    name: "kubevirt",
    clock,
    logger,
    // There is one installation, and its steps must not overtake each other.
    workers: 1,
    async reconcile(key) {
      const kubevirt = kubevirtInformer.get(key);
      if (kubevirt === undefined) return {};
      const others = kubevirtInformer.list().filter(({ metadata }) => metadata.uid !== kubevirt.metadata.uid);
      return reconcileKubeVirt(kubevirt, others, reconcileDeps);
    },
  });
  const enqueueAll = (): void => {
    for (const kubevirt of kubevirtInformer.list()) controller.enqueue(keyOf(kubevirt));
  };
  const lead = async (signal: AbortSignal): Promise<void> => {
    // One listener for each informer, which is more than Node expects.
    setMaxListeners(0, signal);
    kubevirtInformer.start(signal);
    await Promise.all([kubevirtInformer.synced(), objects.start(signal)]);
    for (const { status } of kubevirtInformer.list()) objects.restore(status?.generations ?? []);
    kubevirtInformer.on({ onSet: enqueueAll, onDelete: enqueueAll });
    objects.onChange(enqueueAll);
    await controller.run(signal);
    await recorder.flush();
  };
  return {
    run: (signal) =>
      runAsLeader(
        { client, clock, logger, namespace: deps.namespace, name: virtOperator, identity: deps.identity },
        signal,
        lead,
      ),
  };
}
