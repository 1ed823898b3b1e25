import { certificateMounts, handlerPaths, labels, launcherCachePath, ports } from "@polyvirt/api";
import type { Container, DaemonSet, HTTPGetAction, PodSpec, Volume, VolumeMount } from "@polyvirt/api/k8s";
import { ownMetadata, placement, roleEnvironment, type Installation } from "../installation.ts";
import { priorityClassName } from "./priority-class.ts";
import { certificateVolume, defaultContainer } from "./role-deployment.ts";

const virtHandler = "virt-handler";

const probe = (path: string): HTTPGetAction => ({ path, port: ports.health, scheme: "HTTP" });

const capabilitiesMount: VolumeMount = { name: "node-labeller", mountPath: handlerPaths.capabilities };

/** Folders of the node that virt-handler works in, each with the reason it needs it. */
const nodeFolders: readonly { readonly hostPath: NonNullable<Volume["hostPath"]>; readonly mount: VolumeMount }[] = [
  // Sockets and disks of launcher pods, also of pods that come later. It mounts nothing there itself.
  {
    hostPath: { path: "/var/lib/kubelet/pods" },
    mount: { name: "kubelet-pods", mountPath: handlerPaths.pods, mountPropagation: "HostToContainer" },
  },
  // Where it registers device plug-ins with the kubelet.
  {
    hostPath: { path: "/var/lib/kubelet/device-plugins", type: "DirectoryOrCreate" },
    mount: { name: "device-plugins", mountPath: handlerPaths.devicePlugins },
  },
  // What the launcher's image found out about the node; it is found out once for each boot.
  {
    hostPath: { path: handlerPaths.capabilities, type: "DirectoryOrCreate" },
    mount: capabilitiesMount,
  },
  // Whether the kubelet gives whole CPUs away.
  {
    hostPath: { path: "/var/lib/kubelet" },
    mount: { name: "kubelet", mountPath: handlerPaths.kubelet, readOnly: true },
  },
  // Its records of launchers, which must outlive its own restart.
  {
    hostPath: { path: "/var/run/kubevirt", type: "DirectoryOrCreate" },
    mount: { name: "handler-state", mountPath: handlerPaths.state },
  },
];

/** What the launcher's image keeps on the node for launchers to come; nobody else needs it. */
const launcherCache = {
  volume: { name: "launcher-cache", hostPath: { path: launcherCachePath, type: "DirectoryOrCreate" } },
  mount: { name: "launcher-cache", mountPath: launcherCachePath },
} as const satisfies { readonly volume: Volume; readonly mount: VolumeMount };

/** One agent on each node that may run machines. It is privileged, because it opens other pods' files and devices. */
export function virtHandlerDaemonSet(installation: Installation): DaemonSet {
  const selector = { [labels.role]: virtHandler };
  const metadata = ownMetadata(installation, virtHandler, installation.namespace);
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { ...metadata, labels: { ...metadata.labels, ...selector } },
    spec: {
      selector: { matchLabels: selector },
      // Guests do not notice a restart of the agent, so many nodes may be updated at a time.
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
      template: {
        metadata: { labels: { ...metadata.labels, ...selector }, annotations: defaultContainer(virtHandler) },
        spec: podSpec(installation),
      },
    },
  };
}

function podSpec(installation: Installation): PodSpec {
  const secret = certificateMounts.virtHandlerServer.secret;
  return {
    serviceAccountName: virtHandler,
    priorityClassName,
    ...placement(installation.workloads),
    hostPID: true,
    ...(installation.imagePullSecrets.length > 0 ? { imagePullSecrets: installation.imagePullSecrets } : {}),
    initContainers: [capabilityExporter(installation)],
    containers: [container(installation)],
    volumes: [
      ...nodeFolders.map(({ hostPath, mount }) => ({ name: mount.name, hostPath })),
      launcherCache.volume,
      certificateVolume(secret),
    ],
  };
}

/**
 * Asks the stack that guests of this node will run on what it can do here. Only its own launcher knows; and only a guest
 * that really runs shows that the hypervisor's device is of use, for which the container must have it.
 */
function capabilityExporter({ stack, imagePullPolicy }: Installation): Container {
  return {
    name: "virt-launcher",
    image: stack.launcherImage,
    imagePullPolicy,
    args: [
      "--export-capabilities",
      handlerPaths.capabilities,
      "--hypervisor-device",
      stack.hypervisorDevice,
      "--virt-type",
      stack.virtType,
    ],
    resources: { requests: { cpu: "10m", memory: "128Mi" } },
    securityContext: { privileged: true },
    volumeMounts: [capabilitiesMount, launcherCache.mount],
  };
}

function container(installation: Installation): Container {
  const { secret, mountPath } = certificateMounts.virtHandlerServer;
  return {
    name: virtHandler,
    image: installation.images.virtHandler,
    imagePullPolicy: installation.imagePullPolicy,
    env: roleEnvironment(installation),
    ports: [
      { name: "health", containerPort: ports.health, protocol: "TCP" },
      { name: "console", containerPort: ports.virtHandlerConsole, protocol: "TCP" },
    ],
    readinessProbe: { httpGet: probe("/readyz"), periodSeconds: 2, failureThreshold: 3 },
    livenessProbe: { httpGet: probe("/healthz"), initialDelaySeconds: 15, periodSeconds: 10, failureThreshold: 3 },
    resources: { requests: { cpu: "10m", memory: "96Mi" } },
    securityContext: { privileged: true },
    volumeMounts: [...nodeFolders.map(({ mount }) => mount), { name: secret, mountPath, readOnly: true }],
  };
}
