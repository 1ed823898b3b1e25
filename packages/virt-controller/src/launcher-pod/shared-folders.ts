import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Container, Volume, VolumeMount } from "@polyvirt/api/k8s";
import { errors } from "../errors.ts";
import { launcherPaths } from "./context.ts";

interface SharedFolders {
  /** One for each folder; they run beside the launcher and end after it. */
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
  readonly mounts: readonly VolumeMount[];
}

const socketVolume: Volume = { name: "virtiofs-containers", emptyDir: {} };
const socketMount: VolumeMount = { name: socketVolume.name, mountPath: launcherPaths.sharedFolders };

/** Where the kubelet mounts the token of a guest's account, in every container. */
const serviceAccountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Starts the virtiofs daemon that the launcher's image has, with a socket and a folder as arguments. The one written in Rust
 * gets along with an ordinary user. QEMU's own, of before, wants to be root in order to shut itself into its folder; a user
 * namespace in which the container's user is called root is enough for that, and gains nothing outside.
 */
const startDaemon = `
for program in /usr/libexec/virtiofsd /usr/lib/virtiofsd; do
  [ -x "$program" ] && exec "$program" --socket-path="$0" --shared-dir="$1" --sandbox=none --cache=auto
done
[ -x /usr/lib/qemu/virtiofsd ] && exec unshare --user --map-root-user -- \\
  /usr/lib/qemu/virtiofsd --socket-path="$0" -o source="$1" -o sandbox=chroot -o cache=auto
echo "no virtiofsd in the launcher's image: the guest cannot be given $1" >&2
exit 1
`.trim();

/** The containers that share volumes with the guest as folders, by virtiofs. */
export function sharedFolders(vmi: VirtualMachineInstance, compute: Container): SharedFolders {
  const names = (vmi.spec.domain.devices.filesystems ?? []).map(({ name }) => name);
  if (names.length === 0) return { containers: [], volumes: [], mounts: [] };
  return {
    containers: names.map((name) => daemon(vmi, name, compute)),
    volumes: [socketVolume],
    mounts: [socketMount],
  };
}

function daemon(vmi: VirtualMachineInstance, name: string, compute: Container): Container {
  const mounts = (compute.volumeMounts ?? []).filter((mount) => mount.name === name);
  const folder = isServiceAccount(vmi, name) ? serviceAccountPath : mounts[0]?.mountPath;
  if (folder === undefined) {
    throw errors.LauncherPodVolumeUnsupported(
      `share volume "${name}" with the guest of ${vmi.metadata.namespace}/${vmi.metadata.name}: it has no files; a claim ` +
        "must have volumeMode Filesystem",
      { fields: { volume: name } },
    );
  }
  return {
    name: `virtiofs-${name}`,
    image: compute.image ?? "",
    imagePullPolicy: "IfNotPresent",
    command: ["/bin/sh", "-c", startDaemon],
    args: [`${launcherPaths.sharedFolders}/${name}.sock`, folder],
    // Started before the launcher, ended after it, and no reason for the pod to live on.
    restartPolicy: "Always",
    // No limit of memory: pages of the guest count as those of whoever touches them first.
    resources: { requests: { cpu: "10m", memory: "40Mi" } },
    volumeMounts: [
      ...mounts,
      socketMount,
      // Where QEMU's daemon locks its sockets.
      { name: socketVolume.name, mountPath: "/var/run/virtiofsd" },
    ],
    ...(compute.securityContext === undefined ? {} : { securityContext: withoutRights(compute.securityContext) }),
  };
}

/** The launcher's may have rights that are for QEMU alone. */
function withoutRights(context: NonNullable<Container["securityContext"]>): NonNullable<Container["securityContext"]> {
  return { ...context, capabilities: { drop: context.capabilities?.drop ?? [] } };
}

function isServiceAccount({ spec }: VirtualMachineInstance, name: string): boolean {
  return spec.volumes?.some((volume) => volume.name === name && volume.serviceAccount !== undefined) === true;
}
