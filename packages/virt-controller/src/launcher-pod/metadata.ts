import { annotations, labels, type VirtualMachineInstance } from "@polyvirt/api";
import { apiVersionOf, type ObjectMeta } from "@polyvirt/api/k8s";
import { virtualMachineInstances } from "@polyvirt/api";
import { computeContainer } from "./context.ts";
import { hostnameOf, labelValue, launcherPodName } from "./name.ts";

const droppedAnnotations: readonly string[] = [
  annotations.latestObservedApiVersion,
  annotations.storageObservedApiVersion,
];
const droppedPrefix = "kubectl.kubernetes.io";

/** `extra` are annotations that depend on more than the VMI. */
export function launcherPodMetadata(vmi: VirtualMachineInstance, extra: Readonly<Record<string, string>>): ObjectMeta {
  const { name = "", uid = "", namespace } = vmi.metadata;
  return {
    name: launcherPodName(vmi),
    ...(namespace === undefined ? {} : { namespace }),
    labels: {
      ...vmi.metadata.labels,
      [labels.role]: "virt-launcher",
      [labels.createdBy]: uid,
      [labels.virtualMachineName]: hostnameOf(vmi),
      [labels.virtualMachineInstanceId]: labelValue(name),
    },
    annotations: {
      ...keptAnnotations(vmi.metadata.annotations ?? {}),
      [annotations.domain]: name,
      [annotations.defaultContainer]: computeContainer,
      [annotations.migrationTransportUnix]: "true",
      "descheduler.alpha.kubernetes.io/request-evict-only": "",
      ...extra,
    },
    ownerReferences: [
      {
        apiVersion: apiVersionOf(virtualMachineInstances),
        kind: virtualMachineInstances.kind,
        name,
        uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}

function keptAnnotations(all: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(all).filter(([key]) => !key.startsWith(droppedPrefix) && !droppedAnnotations.includes(key)),
  );
}
