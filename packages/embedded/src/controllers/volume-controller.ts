import * as fs from "node:fs";
import * as path from "node:path";
import {
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type StorageClass,
} from "@polyvirt/api/k8s";
import { hasCode } from "@polyvirt/core";
import { keyOf, type Controller, type Informer, type KubeClient, type ReconcileResult } from "@polyvirt/kube";
import { parseAmount } from "../scheduler/resource-amount.ts";
import { createObjectController, unless, updateStatus, type ControllerDependencies } from "./object-controller.ts";
import { claimProtection, claimReference, localStorageClass, planClaim, planVolume } from "./volume-plan.ts";

/** Devices have whole ones. */
const sectorBytes = 512;

interface VolumeControllerOptions extends ControllerDependencies {
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly directory: string;
}

/** Binds claims to volumes, and makes a directory of this machine for each claim of the class `local`. */
export function createVolumeControllers(options: VolumeControllerOptions): Controller[] {
  return [claimController(options), volumeController(options)];
}

/** Makes the class `local` unless there is one of this name. */
export async function ensureStorageClass(client: KubeClient): Promise<void> {
  await unless(["KubeAlreadyExists"], client.create(storageClasses, localStorageClass));
}

function claimController(options: VolumeControllerOptions): Controller {
  const { client, events } = options;

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
    await updateStatus(client, persistentVolumeClaims, claim, status);
  };

  const provision = async (claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> => {
    makePlace(volume);
    const created = await client.create(persistentVolumes, volume).catch((error: unknown) => {
      if (hasCode(error, "KubeAlreadyExists")) return client.get(persistentVolumes, volume.metadata.name ?? "");
      throw error;
    });
    events.record(claim, "Normal", "ProvisioningSucceeded", `Successfully provisioned volume ${created.metadata.name}`);
    await bind(claim, created);
  };

  const reconcile = async (claim: PersistentVolumeClaim): Promise<ReconcileResult> => {
    const { name = "", namespace } = claim.metadata;
    const plan = planClaim(claim, {
      volumes: options.volumes.list(),
      classes: options.storageClasses.list(),
      nodes: options.nodes.list(),
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
  };

  const controller = createObjectController(
    { name: "persistent-volume-claims", type: persistentVolumeClaims, objects: options.claims, reconcile },
    options,
  );
  const enqueueAll = (): void => {
    for (const claim of options.claims.list()) if (claim.status?.phase !== "Bound") controller.enqueue(keyOf(claim));
  };
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

/** A directory, or a sparse file for a device; what is there already is kept. */
function makePlace({ spec }: PersistentVolume): void {
  const directory = spec?.hostPath?.path;
  if (directory !== undefined) {
    // Every user of a pod may write: the claim's own pods decide who that is.
    fs.mkdirSync(directory, { recursive: true });
    return fs.chmodSync(directory, 0o777);
  }
  const file = spec?.local?.path ?? "";
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const descriptor = fs.openSync(file, "a", 0o600);
  try {
    if (fs.fstatSync(descriptor).size === 0) {
      fs.ftruncateSync(
        descriptor,
        Math.ceil(parseAmount(spec?.capacity?.["storage"] ?? "0") / sectorBytes) * sectorBytes,
      );
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

function volumeController(options: VolumeControllerOptions): Controller {
  const { client, events } = options;
  const reconcile = async (volume: PersistentVolume): Promise<ReconcileResult> => {
    const reference = volume.spec?.claimRef;
    const claim = reference === undefined ? undefined : options.claims.get(`${reference.namespace}/${reference.name}`);
    const plan = planVolume(volume, claim, options.directory);
    if (plan.kind === "mark") await updateStatus(client, persistentVolumes, volume, { phase: plan.phase });
    if (plan.kind === "delete") {
      if (plan.directory !== undefined) await fs.promises.rm(plan.directory, { recursive: true, force: true });
      events.record(volume, "Normal", "VolumeDeleted", "its claim is gone");
      await unless(["KubeNotFound"], client.delete(persistentVolumes, volume.metadata.name ?? ""));
    }
    return {};
  };
  const controller = createObjectController(
    { name: "persistent-volumes", type: persistentVolumes, objects: options.volumes, reconcile },
    options,
  );
  const enqueueVolumeOf = (claim: PersistentVolumeClaim): void => {
    if (claim.spec?.volumeName !== undefined) controller.enqueue(claim.spec.volumeName);
  };
  options.claims.on({ onSet: enqueueVolumeOf, onDelete: enqueueVolumeOf });
  return controller;
}
