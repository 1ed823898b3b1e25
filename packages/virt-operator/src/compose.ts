import { describeError, type Clock, type Logger } from "@polyvirt/core";
import { kubeVirts, type KubeVirt } from "@polyvirt/api";
import { events, type Event } from "@polyvirt/api/k8s";
import { createController, createInformer, keyOf, type KubeClient } from "@polyvirt/kube";
import type { RoleImages } from "./images.ts";
import { createInstalledObjects } from "./installed-objects.ts";
import { reconcileKubeVirt } from "./reconcile.ts";
import type { RecordEvent } from "./report.ts";

export interface VirtOperatorDeps {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where virt-operator runs, and therefore where it installs the roles. */
  readonly namespace: string;
  readonly images: RoleImages;
  readonly version: string;
  /** Kubernetes' name of this machine's architecture: guests get it when they do not say. */
  readonly architecture: string;
  /** Names of hypervisors that may be configured. */
  readonly hypervisors: readonly string[];
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
  const reconcileDeps = { ...deps, objects, recordEvent: createEventRecorder(deps) };
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
  return {
    async run(signal) {
      kubevirtInformer.start(signal);
      await Promise.all([kubevirtInformer.synced(), objects.start(signal)]);
      kubevirtInformer.on({ onSet: enqueueAll, onDelete: enqueueAll });
      objects.onChange(enqueueAll);
      await controller.run(signal);
    },
  };
}

function createEventRecorder({ client, clock, logger }: VirtOperatorDeps): RecordEvent {
  const component = "virt-operator";
  return async (kubevirt: KubeVirt, type, reason, message) => {
    const { name = "", namespace = "", uid } = kubevirt.metadata;
    const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const event: Event = {
      metadata: { generateName: `${name}.`, namespace },
      involvedObject: {
        apiVersion: "kubevirt.io/v1",
        kind: "KubeVirt",
        name,
        namespace,
        ...(uid === undefined ? {} : { uid }),
      },
      type,
      reason,
      message,
      source: { component },
      reportingComponent: component,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    try {
      await client.create(events, event);
    } catch (error) {
      // An event is a courtesy: the condition says the same, and the installation must not wait for it.
      logger.warn("an event could not be recorded", { reason, error: describeError(error) });
    }
  };
}
