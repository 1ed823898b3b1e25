import * as fs from "node:fs";
import {
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type StorageClass,
} from "@polyvirt/api/k8s";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import {
  createController,
  keyOf,
  type Controller,
  type EventRecorder,
  type Informer,
  type KubeClient,
} from "@polyvirt/kube";
import { claimProtection, claimReference, localStorageClass, planClaim, planVolume } from "./volume-plan.ts";

interface VolumeControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly pods: Informer<Pod>;
  readonly directory: string;
}

/** Binds claims to volumes, and makes a directory of this machine for each claim of the class `local`. */
export function createVolumeControllers(options: VolumeControllerOptions): Controller[] {
  return [claimController(options), volumeController(options)];
}

/** Makes the class `local` unless there is one of this name. */
export async function ensureStorageClass(client: KubeClient): Promise<void> {
  try {
    await client.create(storageClasses, localStorageClass);
  } catch (error) {
    if (!hasCode(error, "KubeAlreadyExists")) throw error;
  }
}

function claimController(options: VolumeControllerOptions): Controller {
  const { client, clock, logger, events } = options;

  const bind = async (claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> => {
    const { name = "", namespace } = claim.metadata;
    const { name: volumeName = "", resourceVersion } = volume.metadata;
    if (volume.spec?.claimRef?.uid !== claim.metadata.uid) {
      const body = { metadata: { resourceVersion }, spec: { claimRef: claimReference(claim) } };
      await client.patch(persistentVolumes, volumeName, undefined, { type: "merge", body });
    }
    const finalizers = [...new Set([...(claim.metadata.finalizers ?? []), claimProtection])];
    const annotations = { "pv.kubernetes.io/bind-completed": "yes" };
    const bound = { metadata: { finalizers, annotations }, spec: { volumeName } };
    await client.patch(persistentVolumeClaims, name, namespace, { type: "merge", body: bound });
    const status = { phase: "Bound", accessModes: volume.spec?.accessModes, capacity: volume.spec?.capacity };
    await client.patch(persistentVolumeClaims, name, namespace, {
      type: "merge",
      subresource: "status",
      body: { status },
    });
  };

  const provision = async (claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> => {
    const path = volume.spec?.hostPath?.path ?? "";
    // Every user of a pod may write: the claim's own pods decide who that is.
    fs.mkdirSync(path, { recursive: true });
    fs.chmodSync(path, 0o777);
    const created = await client.create(persistentVolumes, volume).catch((error: unknown) => {
      if (hasCode(error, "KubeAlreadyExists")) return client.get(persistentVolumes, volume.metadata.name ?? "");
      throw error;
    });
    events.record(claim, "Normal", "ProvisioningSucceeded", `Successfully provisioned volume ${created.metadata.name}`);
    await bind(claim, created);
  };

  const controller = createController({
    name: "persistent-volume-claims",
    clock,
    logger,
    async reconcile(key) {
      const found = options.claims.get(key);
      if (found === undefined) return {};
      const claim: PersistentVolumeClaim = { ...found, apiVersion: "v1", kind: "PersistentVolumeClaim" };
      const { name = "", namespace } = claim.metadata;
      const plan = planClaim(claim, {
        volumes: options.volumes.list(),
        classes: options.storageClasses.list(),
        pods: options.pods.list(),
        directory: options.directory,
      });
      switch (plan.kind) {
        case "nothing":
          return {};
        case "choose-class": {
          const body = { spec: { storageClassName: plan.className } };
          await client.patch(persistentVolumeClaims, name, namespace, { type: "merge", body });
          return {};
        }
        case "bind":
          await bind(claim, plan.volume);
          return {};
        case "provision":
          await provision(claim, plan.volume);
          return {};
        case "refuse":
          events.record(claim, plan.reason === "ProvisioningFailed" ? "Warning" : "Normal", plan.reason, plan.message);
          return {};
        case "let-go": {
          const finalizers = (claim.metadata.finalizers ?? []).filter((finalizer) => finalizer !== claimProtection);
          await client.patch(persistentVolumeClaims, name, namespace, {
            type: "merge",
            body: { metadata: { finalizers } },
          });
          return {};
        }
      }
    },
  });

  const enqueueAll = (): void => {
    for (const claim of options.claims.list()) if (claim.status?.phase !== "Bound") controller.enqueue(keyOf(claim));
  };
  options.claims.on({ onSet: (claim) => controller.enqueue(keyOf(claim)) });
  options.volumes.on({ onSet: enqueueAll });
  options.storageClasses.on({ onSet: enqueueAll });
  const enqueueClaimsOf = (pod: Pod): void => {
    for (const { persistentVolumeClaim: used } of pod.spec.volumes ?? []) {
      if (used !== undefined) controller.enqueue(`${pod.metadata.namespace}/${used.claimName}`);
    }
  };
  options.pods.on({ onSet: enqueueClaimsOf, onDelete: enqueueClaimsOf });
  return controller;
}

function volumeController(options: VolumeControllerOptions): Controller {
  const { client, clock, logger, events } = options;
  const controller = createController({
    name: "persistent-volumes",
    clock,
    logger,
    async reconcile(name) {
      const volume = options.volumes.get(name);
      if (volume === undefined) return {};
      const reference = volume.spec?.claimRef;
      const claim =
        reference === undefined ? undefined : options.claims.get(`${reference.namespace}/${reference.name}`);
      const plan = planVolume(volume, claim, options.directory);
      if (plan.kind === "mark") {
        const body = { status: { phase: plan.phase } };
        await client.patch(persistentVolumes, name, undefined, { type: "merge", subresource: "status", body });
      }
      if (plan.kind === "delete") {
        if (plan.directory !== undefined) await fs.promises.rm(plan.directory, { recursive: true, force: true });
        events.record(
          { ...volume, apiVersion: "v1", kind: "PersistentVolume" },
          "Normal",
          "VolumeDeleted",
          "its claim is gone",
        );
        await client.delete(persistentVolumes, name).catch((error: unknown) => {
          if (!hasCode(error, "KubeNotFound")) throw error;
        });
      }
      return {};
    },
  });
  const enqueueVolumeOf = (claim: PersistentVolumeClaim): void => {
    if (claim.spec?.volumeName !== undefined) controller.enqueue(claim.spec.volumeName);
  };
  options.volumes.on({ onSet: (volume) => controller.enqueue(keyOf(volume)) });
  options.claims.on({ onSet: enqueueVolumeOf, onDelete: enqueueVolumeOf });
  return controller;
}
