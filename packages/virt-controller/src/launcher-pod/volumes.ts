import { hotplugDisks, isHotpluggable, type VirtualMachineInstance, type Volume as VmiVolume } from "@polyvirt/api";
import type { Container, ImagePullPolicy, Volume, VolumeDevice, VolumeMount } from "@polyvirt/api/k8s";
import { errors } from "../errors.ts";
import { stateKinds } from "../backend-storage/state-claim.ts";
import { launcherPaths, type LauncherPodContext } from "./context.ts";

/** What one volume of the VMI puts into the pod. */
interface VolumeShare {
  readonly volumes?: readonly Volume[];
  readonly mounts?: readonly VolumeMount[];
  readonly devices?: readonly VolumeDevice[];
}

interface LauncherVolumes {
  readonly volumes: Volume[];
  readonly container: Required<Pick<Container, "volumeMounts" | "volumeDevices">>;
}

const scratch: readonly { readonly name: string; readonly mountPath: string }[] = [
  { name: "private", mountPath: launcherPaths.private },
  { name: "public", mountPath: launcherPaths.public },
  { name: "sockets", mountPath: launcherPaths.sockets },
  { name: "ephemeral-disks", mountPath: launcherPaths.ephemeralDisks },
  // Filled by virt-handler with volumes that come and go.
  { name: hotplugDisks.volume, mountPath: hotplugDisks.mountPath },
];

export function launcherVolumes(vmi: VirtualMachineInstance, context: LauncherPodContext): LauncherVolumes {
  const shares = [
    ...scratch.map(({ name, mountPath }) => mounted({ name, emptyDir: {} }, mountPath)),
    ...kernelBoot(vmi),
    ...persistentState(vmi, context),
    ...permanentVolumes(vmi).map((volume) => shareOf(vmi, volume, context)),
  ];
  return {
    volumes: shares.flatMap(({ volumes = [] }) => volumes),
    container: {
      volumeMounts: shares.flatMap(({ mounts = [] }) => mounts),
      volumeDevices: shares.flatMap(({ devices = [] }) => devices),
    },
  };
}

/** Volumes that come and go are held by a pod of their own. */
function permanentVolumes({ spec }: VirtualMachineInstance): VmiVolume[] {
  return (spec.volumes ?? []).filter((volume) => !isHotpluggable(volume));
}

function mounted(volume: Volume, mountPath: string, readOnly = false): VolumeShare {
  return {
    volumes: [volume],
    mounts: [{ name: volume.name, mountPath, ...(readOnly ? { readOnly } : {}) }],
  };
}

function kernelBoot(vmi: VirtualMachineInstance): VolumeShare[] {
  const container = vmi.spec.domain.firmware?.kernelBoot?.container;
  if (container === undefined) return [];
  const volume = { name: "kernel-boot", image: imageSource(container.image, container.imagePullPolicy) };
  return [mounted(volume, `${launcherPaths.containerDisks}/kernel-boot`, true)];
}

/** Each kind of state in a folder of its own, so that the guest's devices see no more of the claim than is theirs. */
function persistentState(vmi: VirtualMachineInstance, { stateClaim }: LauncherPodContext): VolumeShare[] {
  if (stateClaim === undefined) return [];
  const name = "vm-state";
  const mounts = stateKinds(vmi).map((kind) => {
    return { name, mountPath: `${launcherPaths.persistentState}/${kind}`, subPath: kind };
  });
  return [{ volumes: [{ name, persistentVolumeClaim: { claimName: stateClaim } }], mounts }];
}

function imageSource(reference: string, pullPolicy: string | undefined): NonNullable<Volume["image"]> {
  return { reference, ...(isPullPolicy(pullPolicy) ? { pullPolicy } : {}) };
}

function isPullPolicy(text: string | undefined): text is ImagePullPolicy {
  return text === "Always" || text === "IfNotPresent" || text === "Never";
}

type SourceKind = Exclude<keyof VmiVolume, "name">;
type Render = (volume: VmiVolume, context: LauncherPodContext) => VolumeShare;

const inPrivate = (folder: string, name: string) => `${launcherPaths.private}/${folder}/${name}`;

/** How each kind of volume reaches the launcher. Kinds that are not here are refused. */
const renderers: Partial<Record<SourceKind, Render>> = {
  containerDisk: ({ name, containerDisk }) =>
    containerDisk === undefined
      ? {}
      : mounted(
          { name: `containerdisk-${name}`, image: imageSource(containerDisk.image, containerDisk.imagePullPolicy) },
          `${launcherPaths.containerDisks}/${name}`,
          true,
        ),
  // Made by the launcher inside its scratch space.
  emptyDisk: () => ({}),
  cloudInitNoCloud: ({ name, cloudInitNoCloud: source }) => cloudInitSecrets(name, source ?? {}),
  cloudInitConfigDrive: ({ name, cloudInitConfigDrive: source }) => cloudInitSecrets(name, source ?? {}),
  configMap: ({ name, configMap }) =>
    mounted(
      { name, configMap: { ...named(configMap?.name), ...optional(configMap?.optional) } },
      inPrivate("config-map", name),
      true,
    ),
  secret: ({ name, secret }) =>
    mounted(
      {
        name,
        secret: {
          ...(secret?.secretName === undefined ? {} : { secretName: secret.secretName }),
          ...optional(secret?.optional),
        },
      },
      inPrivate("secret", name),
      true,
    ),
  downwardAPI: ({ name, downwardAPI }) =>
    mounted({ name, downwardAPI: { items: downwardAPI?.fields ?? [] } }, inPrivate("downwardapi", name), true),
  sysprep: ({ name, sysprep }) =>
    mounted(
      sysprep?.secret === undefined
        ? { name, configMap: named(sysprep?.configMap?.name) }
        : { name, secret: sysprep.secret.name === undefined ? {} : { secretName: sysprep.secret.name } },
      inPrivate("sysprep", name),
      true,
    ),
  // The kubelet mounts the account's token by itself (see serviceAccountOf).
  serviceAccount: () => ({}),
  hostDisk: ({ name, hostDisk }) => {
    const path = hostDisk?.path ?? "";
    const folder = path.slice(0, path.lastIndexOf("/")) || "/";
    const type = hostDisk?.type === "Disk" ? "Directory" : "DirectoryOrCreate";
    return mounted({ name, hostPath: { path: folder, type } }, inPrivate("vmi-disks", name));
  },
  persistentVolumeClaim: ({ name, persistentVolumeClaim: source }, context) =>
    claim(name, source?.claimName ?? "", source?.readOnly === true, context),
  ephemeral: ({ name, ephemeral }, context) =>
    claim(name, ephemeral?.persistentVolumeClaim?.claimName ?? "", true, context),
};

function shareOf(vmi: VirtualMachineInstance, volume: VmiVolume, context: LauncherPodContext): VolumeShare {
  // The only key besides the name is the source; admission made sure of that.
  const kind = Object.keys(volume).find((key) => key !== "name") as SourceKind | undefined;
  const render = kind === undefined ? undefined : renderers[kind];
  if (render === undefined) {
    throw errors.LauncherPodVolumeUnsupported(
      `make the launcher pod of ${vmi.metadata.namespace}/${vmi.metadata.name}: volume "${volume.name}" is of kind ` +
        `"${kind ?? "none"}", which is not supported yet`,
      { fields: { volume: volume.name, kind } },
    );
  }
  return render(volume, context);
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}

function optional(value: boolean | undefined): { optional?: boolean } {
  return value === undefined ? {} : { optional: value };
}

interface CloudInitSource {
  readonly secretRef?: { name?: string };
  readonly networkDataSecretRef?: { name?: string };
}

function cloudInitSecrets(name: string, source: CloudInitSource): VolumeShare {
  const shares = [
    ...(source.secretRef === undefined
      ? []
      : [secretShare(`${name}-udata`, source.secretRef.name, inPrivate("secret", `${name}/userdata`))]),
    ...(source.networkDataSecretRef === undefined
      ? []
      : [secretShare(`${name}-ndata`, source.networkDataSecretRef.name, inPrivate("secret", `${name}/networkdata`))]),
  ];
  return {
    volumes: shares.flatMap(({ volumes = [] }) => volumes),
    mounts: shares.flatMap(({ mounts = [] }) => mounts),
  };
}

function secretShare(name: string, secretName: string | undefined, mountPath: string): VolumeShare {
  return mounted({ name, secret: secretName === undefined ? {} : { secretName } }, mountPath, true);
}

function claim(name: string, claimName: string, readOnly: boolean, context: LauncherPodContext): VolumeShare {
  const volume: Volume = { name, persistentVolumeClaim: { claimName, ...(readOnly ? { readOnly } : {}) } };
  if (context.claims.get(claimName)?.spec?.volumeMode === "Block") {
    return { volumes: [volume], devices: [{ name, devicePath: `/dev/${name}` }] };
  }
  return mounted(volume, inPrivate("vmi-disks", name), readOnly);
}

/** Names of the claims that must exist before the pod can be made. */
export function claimNames(vmi: VirtualMachineInstance): string[] {
  const names = permanentVolumes(vmi).flatMap(({ persistentVolumeClaim, ephemeral }) => [
    persistentVolumeClaim?.claimName,
    ephemeral?.persistentVolumeClaim?.claimName,
  ]);
  return [...new Set(names.filter((name) => name !== undefined))];
}
