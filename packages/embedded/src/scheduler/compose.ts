import {
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  replicaSets,
  services,
  storageClasses,
} from "@polyvirt/api/k8s";
import type { Clock, Logger } from "@polyvirt/core";
import { createEventRecorder, createInformer, type KubeClient } from "@polyvirt/kube";
import { Scheduler } from "./scheduler.ts";

interface SchedulerDependencies {
  /** Authenticated with the rights of Kubernetes' scheduler. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ComposedScheduler {
  run(signal: AbortSignal): Promise<void>;
}

export function composeScheduler(dependencies: SchedulerDependencies): ComposedScheduler {
  const { client, clock } = dependencies;
  const logger = dependencies.logger.with({ component: "scheduler" });
  const shared = { clock, logger };
  const informers = {
    pods: createInformer(client, pods, shared),
    nodes: createInformer(client, nodes, shared),
    namespaces: createInformer(client, namespaces, shared),
    claims: createInformer(client, persistentVolumeClaims, shared),
    volumes: createInformer(client, persistentVolumes, shared),
    storageClasses: createInformer(client, storageClasses, shared),
    budgets: createInformer(client, podDisruptionBudgets, shared),
    services: createInformer(client, services, shared),
    replicaSets: createInformer(client, replicaSets, shared),
  };
  const events = createEventRecorder({ client, clock, logger, component: "default-scheduler" });
  const scheduler = new Scheduler({ ...informers, client, clock, logger, events });
  return {
    async run(signal) {
      for (const informer of Object.values(informers)) informer.start(signal);
      await Promise.all(Object.values(informers).map((informer) => informer.synced()));
      await scheduler.run(signal);
    },
  };
}
