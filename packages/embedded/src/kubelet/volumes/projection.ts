import type {
  ConfigMap,
  DownwardAPIVolumeFile,
  KeyToPath,
  Pod,
  Secret,
  Volume,
  VolumeProjection,
} from "@polyvirt/api/k8s";
import { errors } from "../../errors.ts";
import { fieldValue, resourceValue, type DownwardFacts } from "../downward.ts";

interface ProjectedFile {
  readonly content: Uint8Array;
  readonly mode: number;
}

/** Path inside the volume → file. */
export type ProjectedFiles = Map<string, ProjectedFile>;

/** Everything a projection can be made of; undefined for objects that do not exist. */
export interface ProjectionSources {
  secret(name: string): Promise<Secret | undefined>;
  configMap(name: string): Promise<ConfigMap | undefined>;
  token(audience: string | undefined, expirationSeconds: number): Promise<string>;
  readonly facts: DownwardFacts;
}

const defaultMode = 0o644;
const defaultTokenSeconds = 3600;

/** True for volumes whose content the kubelet writes. */
export function isProjection(volume: Volume): boolean {
  return [volume.secret, volume.configMap, volume.downwardAPI, volume.projected].some((source) => source !== undefined);
}

/** The files of a secret, configMap, downwardAPI or projected volume. */
export async function projectVolume(pod: Pod, volume: Volume, sources: ProjectionSources): Promise<ProjectedFiles> {
  const files: ProjectedFiles = new Map();
  const mode = modeOf(volume);
  for (const projection of projectionsOf(volume)) {
    for (const [path, file] of await project(pod, projection, mode, sources)) {
      assertPlainPath(path, volume.name);
      files.set(path, file);
    }
  }
  return files;
}

function modeOf({ secret, configMap, downwardAPI, projected }: Volume): number {
  return (secret ?? configMap ?? downwardAPI ?? projected)?.defaultMode ?? defaultMode;
}

/** Each single-source volume is a projected volume with one source. */
function projectionsOf({ secret, configMap, downwardAPI, projected }: Volume): VolumeProjection[] {
  if (secret !== undefined) {
    const { secretName, items, optional } = secret;
    return [{ secret: { ...defined({ name: secretName, items, optional }) } }];
  }
  if (configMap !== undefined) return [{ configMap }];
  if (downwardAPI !== undefined) return [{ downwardAPI }];
  return projected?.sources ?? [];
}

function defined<T extends object>(object: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Entries whose value is undefined are gone, which is what the mapped type says.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

async function project(
  pod: Pod,
  projection: VolumeProjection,
  mode: number,
  sources: ProjectionSources,
): Promise<ProjectedFiles> {
  const { secret, configMap, downwardAPI, serviceAccountToken } = projection;
  if (secret !== undefined) {
    const object = await sources.secret(secret.name ?? "");
    return pick("secret", secret, object === undefined ? undefined : secretBytes(object), mode);
  }
  if (configMap !== undefined) {
    const object = await sources.configMap(configMap.name ?? "");
    return pick("configmap", configMap, object === undefined ? undefined : configMapBytes(object), mode);
  }
  if (downwardAPI !== undefined) {
    return new Map((downwardAPI.items ?? []).map((item) => [item.path, downwardFile(pod, item, mode, sources.facts)]));
  }
  if (serviceAccountToken !== undefined) {
    const { audience, expirationSeconds, path } = serviceAccountToken;
    const token = await sources.token(audience, expirationSeconds ?? defaultTokenSeconds);
    return new Map([[path, { content: Buffer.from(token), mode: 0o600 }]]);
  }
  throw errors.KubeletVolumeRefused(
    `a projected volume has a source of an unknown kind: ${Object.keys(projection).join()}`,
  );
}

function pick(
  kind: string,
  reference: { name?: string; items?: KeyToPath[]; optional?: boolean },
  data: ReadonlyMap<string, Uint8Array> | undefined,
  mode: number,
): ProjectedFiles {
  const files: ProjectedFiles = new Map();
  if (data === undefined) {
    if (reference.optional === true) return files;
    throw errors.KubeletVolumeRefused(`${kind} "${reference.name ?? ""}" not found`);
  }
  if (reference.items === undefined) {
    for (const [key, content] of data) files.set(key, { content, mode });
    return files;
  }
  for (const item of reference.items) {
    const content = data.get(item.key);
    if (content !== undefined) files.set(item.path, { content, mode: item.mode ?? mode });
    else if (reference.optional !== true) {
      throw errors.KubeletVolumeRefused(`references non-existent ${kind} key: ${item.key}`);
    }
  }
  return files;
}

function secretBytes(secret: Secret): Map<string, Uint8Array> {
  return new Map(Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64")]));
}

function configMapBytes(configMap: ConfigMap): Map<string, Uint8Array> {
  return new Map<string, Uint8Array>([
    ...Object.entries(configMap.data ?? {}).map(([key, value]): [string, Buffer] => [key, Buffer.from(value)]),
    ...Object.entries(configMap.binaryData ?? {}).map(([key, value]): [string, Buffer] => [
      key,
      Buffer.from(value, "base64"),
    ]),
  ]);
}

function downwardFile(pod: Pod, item: DownwardAPIVolumeFile, mode: number, facts: DownwardFacts): ProjectedFile {
  const { fieldRef, resourceFieldRef } = item;
  const container = pod.spec.containers.find(({ name }) => name === resourceFieldRef?.containerName);
  const text =
    fieldRef !== undefined
      ? fieldValue(pod, fieldRef.fieldPath, facts)
      : resourceFieldRef !== undefined && container !== undefined
        ? resourceValue(container, resourceFieldRef, facts)
        : undefined;
  if (text === undefined) {
    throw errors.KubeletVolumeRefused(`downward API file ${item.path} names no field that a volume can show`);
  }
  return { content: Buffer.from(text), mode: item.mode ?? mode };
}

/** A file of a projection must stay inside of its volume. */
function assertPlainPath(path: string, volume: string): void {
  const parts = path.split("/");
  if (
    path === "" ||
    path.startsWith("/") ||
    parts.includes("..") ||
    (parts[0] ?? "").startsWith("..") ||
    path.includes("\0")
  ) {
    throw errors.KubeletVolumeRefused(
      `volume ${volume}: the path ${JSON.stringify(path)} must stay inside of the volume`,
    );
  }
}
