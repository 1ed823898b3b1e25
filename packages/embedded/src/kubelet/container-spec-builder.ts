import * as fs from "node:fs";
import type { Container, Pod, VolumeMount } from "@polyvirt/api/k8s";
import {
  isShared,
  shareDirectory,
  type ContainerDevice,
  type ContainerMount,
  type ContainerSpec,
  type ProcessIdentity,
} from "@polyvirt/host";
import type { CatalogueImage } from "../images/image-catalogue.ts";
import { errors } from "../errors.ts";
import { amountsOf, requestsOf } from "../scheduler/resource-amount.ts";
import { expand, expandAll } from "./environment.ts";
import { credentialsOf } from "./security.ts";
import type { PreparedVolume } from "./volumes/prepared-volume.ts";
import { openOwnPlace, resolveSubPath } from "./volumes/sub-path.ts";

interface SpecContext {
  readonly image: CatalogueImage;
  readonly environment: ReadonlyMap<string, string>;
  readonly volumes: ReadonlyMap<string, PreparedVolume>;
  /** Mounts that every container of the pod gets: hosts file, termination log, devices. */
  readonly extraMounts: readonly ContainerMount[];
  readonly devices: readonly ContainerDevice[];
  readonly maskedDirectories: readonly string[];
  readonly visiblePaths: readonly string[];
  readonly networkNamespace?: string;
  readonly privileged: boolean;
  /** A process whose process namespace the container lives in. */
  readonly processNamespace?: ProcessIdentity;
  /** The container's control group; unique on the machine. */
  readonly groupName: string;
}

export interface BuiltSpec {
  readonly spec: ContainerSpec;
  /** To be called once the container runs, or has failed to. */
  release(): void;
}

/** Translates a container of a pod into what the machine has to run. */
export function buildContainerSpec(pod: Pod, container: Container, context: SpecContext): BuiltSpec {
  const { environment, image } = context;
  const command = [
    ...expandAll(container.command ?? image.command, environment),
    ...expandAll(container.args ?? [], environment),
  ];
  const releases: (() => void)[] = [];
  const release = (): void => releases.splice(0).forEach((act) => act());
  try {
    const mounts = (container.volumeMounts ?? []).map((mount) => resolveMount(mount, context, releases));
    const spec: ContainerSpec = {
      command,
      environment,
      workingDirectory: container.workingDir ?? "/",
      ...(pod.spec.hostNetwork === true ? {} : { hostname: hostnameOf(pod) }),
      mounts: [...mounts, ...imageMounts(image), ...context.extraMounts].sort(
        (a, b) => depth(a.target) - depth(b.target),
      ),
      devices: context.devices,
      maskedDirectories: context.maskedDirectories,
      visiblePaths: [...context.visiblePaths, ...command.slice(0, 2).filter((part) => part.startsWith("/"))],
      privileged: container.securityContext?.privileged === true,
      hostPid: pod.spec.hostPID === true,
      ...(context.processNamespace === undefined ? {} : { processNamespace: context.processNamespace }),
      input: container.stdin === true,
      terminal: container.tty === true,
      readOnlyRoot: container.securityContext?.readOnlyRootFilesystem === true,
      ...(context.networkNamespace === undefined ? {} : { networkNamespace: context.networkNamespace }),
      credentials: credentialsOf(pod, container),
      groupName: context.groupName,
      limits: limitsOf(container),
    };
    return { spec, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** What the image brings along. The catalogue is the administrator's, so its paths are taken as they are. */
function imageMounts({ files = {} }: CatalogueImage): ContainerMount[] {
  return Object.entries(files).map(([target, source]) => ({
    source,
    target,
    kind: fs.statSync(source).isDirectory() ? "directory" : "file",
    readOnly: true,
    recursive: false,
  }));
}

function limitsOf(container: Container): ContainerSpec["limits"] {
  const limits = amountsOf(container.resources?.limits);
  const cpuLimit = limits.get("cpu");
  const memoryBytes = limits.get("memory");
  const cpuRequest = requestsOf(container).get("cpu");
  return {
    ...(cpuLimit === undefined ? {} : { cpuLimit }),
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(cpuRequest === undefined ? {} : { cpuRequest }),
  };
}

/** As Kubernetes: the pod's hostname or name, as far as a host name may be long. */
export function hostnameOf(pod: Pod): string {
  return (pod.spec.hostname ?? pod.metadata.name ?? "").slice(0, 63).replace(/[-.]+$/, "");
}

function depth(target: string): number {
  return target.split("/").filter((part) => part !== "").length;
}

function resolveMount(mount: VolumeMount, context: SpecContext, releases: (() => void)[]): ContainerMount {
  const volume = context.volumes.get(mount.name);
  if (volume === undefined) throw errors.KubeletVolumeRefused(`no volume is named ${mount.name}`);
  const { kind } = volume;
  if (kind === "block") {
    throw errors.KubeletVolumeRefused(`volume ${mount.name} has volumeMode Block: use volumeDevices for it`);
  }
  const base = {
    target: absoluteTarget(mount),
    readOnly: mount.readOnly === true || volume.readOnly,
    recursive: volume.recursive,
    ...propagationOf(mount, volume, context),
  };
  const subPath = mount.subPathExpr === undefined ? mount.subPath : expand(mount.subPathExpr, context.environment);
  const own = volume.own === undefined ? undefined : openOwnPlace(volume.own, mount.name);
  if (own !== undefined) releases.push(() => own.release());
  if (subPath === undefined || subPath === "") {
    return { ...base, source: own?.path ?? volume.path, kind, ...(own === undefined ? {} : { inode: own.inode }) };
  }
  const resolved = resolveSubPath(own?.path ?? volume.path, subPath, mount.name);
  releases.push(() => resolved.release());
  return { ...base, source: resolved.path, kind: resolved.kind, inode: resolved.inode };
}

/** Other mounts that appear below a volume while the container runs; only directories can have any. */
function propagationOf(
  mount: VolumeMount,
  volume: PreparedVolume,
  { privileged }: SpecContext,
): Pick<ContainerMount, "propagation"> {
  const wanted = mount.mountPropagation ?? "None";
  if (wanted === "None" || volume.kind !== "directory") return {};
  const isRoot = process.getuid?.() === 0;
  if (wanted === "Bidirectional" && !(isRoot && privileged)) {
    throw errors.KubeletVolumeRefused(
      `mount ${mount.mountPath}: mountPropagation Bidirectional is for privileged containers of a kubelet that is root`,
    );
  }
  // The node's own directories can be made shared; those of the machine are its administrator's.
  if (isRoot && volume.own !== undefined) shareDirectory(volume.path);
  if (wanted === "Bidirectional" && !isShared(volume.path)) {
    throw errors.KubeletVolumeRefused(
      `mount ${mount.mountPath}: path ${volume.path} is not on a shared mount; run: mount --make-rshared / on the machine`,
    );
  }
  return { propagation: wanted === "Bidirectional" ? "shared" : "slave" };
}

function absoluteTarget(mount: VolumeMount): string {
  const target = mount.mountPath.startsWith("/") ? mount.mountPath : `/${mount.mountPath}`;
  if (target.split("/").includes("..") || target.includes("\0")) {
    throw errors.KubeletVolumeRefused(`mountPath ${mount.mountPath} must not contain ".."`);
  }
  return target.replace(/\/+$/, "") || "/";
}
