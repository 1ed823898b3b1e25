import * as fs from "node:fs";
import type { Pod, Secret, Volume } from "@polyvirt/api/k8s";
import { errors } from "../../errors.ts";
import { imageRequest, type ImageRequest, type ImageVolumes } from "../../images/image-volumes.ts";
import type { NodePaths } from "../node-paths.ts";
import type { ApiAccess } from "../ports.ts";
import { prepareBlockVolume } from "./block-volume.ts";
import { claimedPath } from "./claim.ts";
import { makeEmptyDir } from "./empty-dir.ts";
import { resolveHostPath } from "./host-path.ts";
import type { PreparedVolume } from "./prepared-volume.ts";
import { isProjection, projectVolume, type ProjectionSources } from "./projection.ts";
import { writeProjection } from "./projection-writer.ts";

export interface VolumeContext {
  readonly paths: NodePaths;
  readonly sources: ProjectionSources;
  readonly images: ImageVolumes;
  /** An event of the pod: an image is being pulled, or was. */
  readonly tell: NonNullable<ImageRequest["tell"]>;
  readonly claimedVolume: (claimName: string) => ReturnType<ApiAccess["claimedVolume"]>;
  readonly now: () => number;
}

/** Makes the volumes of a pod available; may be called again and then refreshes what the kubelet writes itself. */
export async function prepareVolumes(pod: Pod, context: VolumeContext): Promise<Map<string, PreparedVolume>> {
  const prepared = new Map<string, PreparedVolume>();
  for (const volume of pod.spec.volumes ?? []) prepared.set(volume.name, await prepareVolume(pod, volume, context));
  return prepared;
}

/** Writes projections again after their sources may have changed. */
export async function refreshProjections(pod: Pod, context: VolumeContext): Promise<void> {
  for (const volume of (pod.spec.volumes ?? []).filter(isProjection)) await prepareVolume(pod, volume, context);
}

async function prepareVolume(pod: Pod, volume: Volume, context: VolumeContext): Promise<PreparedVolume> {
  const uid = pod.metadata.uid ?? "";
  const plain = { kind: "directory", readOnly: false, recursive: false } as const;
  if (volume.emptyDir !== undefined) {
    const path = context.paths.volume(uid, "empty-dir", volume.name);
    makeEmptyDir(path, volume, pod, context.sources.facts.allocatable.get("memory") ?? 0);
    return { ...plain, path };
  }
  if (volume.hostPath !== undefined) {
    return { ...resolveHostPath(volume.hostPath, context.paths), readOnly: false, recursive: true };
  }
  if (isProjection(volume)) {
    const path = context.paths.volume(uid, pluginOf(volume), volume.name);
    const files = await projectVolume(pod, volume, context.sources);
    fs.mkdirSync(path, { recursive: true, mode: 0o755 });
    const stamp = new Date(context.now()).toISOString().replaceAll(/[-:TZ]/g, "_");
    writeProjection(path, files, stamp, pod.spec.securityContext?.fsGroup);
    return { ...plain, path, readOnly: true };
  }
  const claimed = volume.persistentVolumeClaim;
  if (claimed !== undefined) {
    const { path, readOnly, block } = claimedPath(claimed.claimName, await context.claimedVolume(claimed.claimName));
    if (block) {
      const device = await prepareBlockVolume(path, uid, context.paths);
      return { ...plain, path: device, kind: "block", readOnly: readOnly || claimed.readOnly === true };
    }
    const real = resolveHostPath({ path }, context.paths);
    return { ...real, readOnly: readOnly || claimed.readOnly === true, recursive: true };
  }
  if (volume.image !== undefined) {
    const path = await context.images.directoryOf({
      ...imageRequest(pod, volume.name, volume.image),
      pullSecrets: () => pullSecrets(pod, context.sources),
      tell: context.tell,
    });
    return { ...plain, path, readOnly: true };
  }
  const type = Object.keys(volume).find((key) => key !== "name") ?? "without a source";
  throw errors.KubeletVolumeRefused(`volume ${volume.name}: volumes of type ${type} are not available on this node`);
}

/** Those that are there; a pod may name more than it has, as long as the image is to be had. */
async function pullSecrets(pod: Pod, sources: ProjectionSources): Promise<Secret[]> {
  const names = (pod.spec.imagePullSecrets ?? []).flatMap(({ name }) => name ?? []);
  const found = await Promise.all(names.map((name) => sources.secret(name)));
  return found.filter((secret) => secret !== undefined);
}

function pluginOf(volume: Volume): string {
  if (volume.secret !== undefined) return "secret";
  if (volume.configMap !== undefined) return "configmap";
  return volume.downwardAPI === undefined ? "projected" : "downward-api";
}
