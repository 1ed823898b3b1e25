import { attachmentPod, claimOf, labels, type VirtualMachineInstance, type Volume } from "@polyvirt/api";
import { apiVersionOf, pods, type PersistentVolumeClaim, type Pod } from "@polyvirt/api/k8s";
import { computeContainer } from "../launcher-pod/context.ts";
import { nameSuffix } from "../launcher-pod/name.ts";

/** A volume of the VMI with the claim that it is kept in. */
export interface AttachedVolume {
  readonly volume: Volume;
  readonly claim: PersistentVolumeClaim;
}

/**
 * The pod that holds the claims of a guest's hotplugged volumes on its node. It does nothing else: as long as it runs, the
 * kubelet keeps them mounted, and virt-handler finds them in it. It belongs to the launcher pod and goes with it.
 */
export function renderAttachmentPod(
  { metadata }: VirtualMachineInstance,
  launcher: Pod,
  attached: readonly AttachedVolume[],
): Pod {
  const { name = "", namespace, uid = "" } = launcher.metadata;
  const compute = launcher.spec.containers.find((container) => container.name === computeContainer);
  const { volume: marker, mountPath } = attachmentPod.marker;
  const files = attached.filter(({ claim }) => !isBlock(claim));
  const devices = attached.filter(({ claim }) => isBlock(claim));
  return {
    apiVersion: apiVersionOf(pods),
    kind: pods.kind,
    metadata: {
      name: attachmentPodName(uid, attached),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [labels.role]: attachmentPod.role, [labels.createdBy]: metadata.uid ?? "" },
      ownerReferences: [
        { apiVersion: apiVersionOf(pods), kind: pods.kind, name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      restartPolicy: "Never",
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      // It has nothing to finish.
      terminationGracePeriodSeconds: 0,
      // The scheduler still has its say, because a claim may get its volume only then.
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: onNode(launcher.spec.nodeName) } },
      tolerations: [{ operator: "Exists" }],
      ...(launcher.spec.securityContext === undefined ? {} : { securityContext: launcher.spec.securityContext }),
      containers: [
        {
          name: attachmentPod.container,
          image: compute?.image ?? "",
          imagePullPolicy: "IfNotPresent",
          command: ["sleep", "infinity"],
          resources: { requests: { cpu: "10m", memory: "2M" }, limits: { cpu: "100m", memory: "80M" } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
          volumeMounts: [
            { name: marker, mountPath },
            ...files.map(({ volume: { name: volume } }) => ({
              name: volume,
              mountPath: attachmentPod.directory(volume),
            })),
          ],
          ...(devices.length === 0
            ? {}
            : {
                volumeDevices: devices.map(({ volume: { name: volume } }) => ({
                  name: volume,
                  devicePath: attachmentPod.device(volume),
                })),
              }),
        },
      ],
      volumes: [
        { name: marker, emptyDir: {} },
        ...attached.map(({ volume }) => ({
          name: volume.name,
          persistentVolumeClaim: { claimName: claimOf(volume) ?? "" },
        })),
      ],
    },
  };
}

/** Names of the volumes that an attachment pod holds. */
export function attachedVolumes({ spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim }) =>
    persistentVolumeClaim === undefined ? [] : [name],
  );
}

/** Follows from what it holds and for whom, so that no two are made for the same purpose. */
export function attachmentPodName(launcherUid: string, attached: readonly AttachedVolume[]): string {
  const held = attached.map(({ volume, claim }) => `${volume.name}=${claim.metadata.uid}`).toSorted();
  return `hp-volume-${nameSuffix([launcherUid, ...held].join("\n"))}`;
}

function isBlock({ spec }: PersistentVolumeClaim): boolean {
  return spec?.volumeMode === "Block";
}

function onNode(name: string | undefined) {
  const fields = [{ key: "metadata.name", operator: "In" as const, values: [name ?? ""] }];
  return { nodeSelectorTerms: [{ matchFields: fields }] };
}
