import { annotations, unpausedReadinessGate, type VirtualMachineInstance } from "@polyvirt/api";
import { apiVersionOf, pods, type Container, type Pod, type PodSpec, type VolumeMount } from "@polyvirt/api/k8s";
import { credentialVolumes } from "./access-credentials.ts";
import { launcherArguments, podGraceSeconds } from "./arguments.ts";
import { computeContainer, type LauncherPodContext } from "./context.ts";
import { launcherPodMetadata } from "./metadata.ts";
import { imagePlatforms } from "./image-platforms.ts";
import { launcherStack } from "./launcher-stack.ts";
import { hostnameOf } from "./name.ts";
import { nodeConstraints } from "./node-constraints.ts";
import { guestProbes } from "./probes.ts";
import { launcherResources } from "./resources.ts";
import { launcherUser } from "./user.ts";
import { sharedFolders } from "./shared-folders.ts";
import { launcherVolumes } from "./volumes.ts";

/** The pod in which a VMI's guest runs. Pure: the same VMI and context always give the same pod. */
export function renderLauncherPod(vmi: VirtualMachineInstance, context: LauncherPodContext): Pod {
  const resources = launcherResources(vmi, context);
  const volumes = launcherVolumes(vmi, context);
  const credentials = credentialVolumes(vmi);
  const user = launcherUser(vmi, context.config);
  const stack = launcherStack(context, user);
  const compute: Container = {
    name: computeContainer,
    image: stack.image,
    imagePullPolicy: "IfNotPresent",
    args: launcherArguments(vmi, context),
    env: [
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    ],
    resources: resources.requirements,
    ...ports(vmi),
    ...guestProbes(vmi),
    volumeMounts: [...volumes.container.volumeMounts, ...credentials.mounts],
    ...(volumes.container.volumeDevices.length === 0 ? {} : { volumeDevices: volumes.container.volumeDevices }),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { add: [...stack.capabilities], drop: user === 0 ? [] : ["ALL"] },
    },
  };
  const folders = sharedFolders(vmi, compute);
  return {
    apiVersion: apiVersionOf(pods),
    kind: pods.kind,
    metadata: launcherPodMetadata(vmi, {
      [annotations.memoryOverheadBytes]: String(resources.memoryOverheadBytes),
      ...imagePlatforms(vmi, volumes.volumes, context),
    }),
    spec: {
      ...copiedFromSpec(vmi),
      ...nodeConstraints(vmi, context),
      ...serviceAccount(vmi),
      ...imagePullSecrets(vmi),
      hostname: hostnameOf(vmi),
      restartPolicy: "Never",
      enableServiceLinks: false,
      terminationGracePeriodSeconds: podGraceSeconds(vmi),
      readinessGates: [{ conditionType: unpausedReadinessGate }],
      securityContext: podSecurityContext(user),
      ...(folders.containers.length === 0 ? {} : { initContainers: [...folders.containers] }),
      containers: [withMounts(compute, folders.mounts)],
      volumes: [...volumes.volumes, ...credentials.volumes, ...folders.volumes],
    },
  };
}

function withMounts(container: Container, mounts: readonly VolumeMount[]): Container {
  return { ...container, volumeMounts: [...(container.volumeMounts ?? []), ...mounts] };
}

function copiedFromSpec({ spec }: VirtualMachineInstance): Partial<PodSpec> {
  const { subdomain, schedulerName, priorityClassName, dnsPolicy, dnsConfig } = spec;
  return {
    ...(subdomain === undefined ? {} : { subdomain }),
    ...(schedulerName === undefined ? {} : { schedulerName }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    ...(dnsPolicy === undefined ? {} : { dnsPolicy }),
    ...(dnsConfig === undefined ? {} : { dnsConfig }),
  };
}

/** The guest's account, for guests that are given one; the launcher itself needs no access to the API. */
function serviceAccount({ spec }: VirtualMachineInstance): Partial<PodSpec> {
  const name = spec.volumes?.find(({ serviceAccount: source }) => source !== undefined)?.serviceAccount
    ?.serviceAccountName;
  const account = name ?? spec.serviceAccountName;
  return {
    ...(account === undefined ? {} : { serviceAccountName: account }),
    automountServiceAccountToken: name !== undefined,
  };
}

function imagePullSecrets({ spec }: VirtualMachineInstance): Partial<PodSpec> {
  const names = [
    spec.domain.firmware?.kernelBoot?.container?.imagePullSecret,
    ...(spec.volumes ?? []).map(({ containerDisk }) => containerDisk?.imagePullSecret),
  ].flatMap((name) => (name === undefined || name === "" ? [] : [name]));
  return names.length === 0 ? {} : { imagePullSecrets: [...new Set(names)].map((name) => ({ name })) };
}

function podSecurityContext(user: number): NonNullable<PodSpec["securityContext"]> {
  if (user === 0) return { runAsUser: 0 };
  return { runAsUser: user, runAsGroup: user, runAsNonRoot: true, fsGroup: user };
}

/** Ports are for people and network policies; nothing is opened by them. */
function ports({ spec }: VirtualMachineInstance): Pick<Container, "ports"> {
  const all = (spec.domain.devices.interfaces ?? []).flatMap((networkInterface) => networkInterface.ports ?? []);
  if (all.length === 0) return {};
  return {
    ports: all.map(({ name, port, protocol }) => ({
      ...(name === undefined ? {} : { name }),
      containerPort: port,
      protocol: protocol === "UDP" ? "UDP" : "TCP",
    })),
  };
}
