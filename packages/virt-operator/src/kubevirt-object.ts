import { finalizers, kubeVirts, type KubeVirt, type KubeVirtStatus } from "@polyvirt/api";
import type { KubeClient } from "@polyvirt/kube";

type Patcher = Pick<KubeClient, "patch">;

/** Until it is removed the API server keeps a deleted object, so that we can take the installation away first. */
export async function ensureFinalizer(client: Patcher, kubevirt: KubeVirt): Promise<KubeVirt> {
  const { finalizers: present = [] } = kubevirt.metadata;
  if (present.includes(finalizers.operator)) return kubevirt;
  return patchObject(client, kubevirt, { metadata: { finalizers: [...present, finalizers.operator] } });
}

export async function removeFinalizer(client: Patcher, kubevirt: KubeVirt): Promise<void> {
  const { finalizers: present = [] } = kubevirt.metadata;
  const rest = present.filter((finalizer) => finalizer !== finalizers.operator);
  await patchObject(client, kubevirt, { metadata: { finalizers: rest } });
}

export async function writeStatus(client: Patcher, kubevirt: KubeVirt, status: KubeVirtStatus): Promise<void> {
  await patchObject(client, kubevirt, { status }, "status");
}

/** Refused by the API server when the object is no longer the one that was decided on: then it is decided again. */
async function patchObject(
  client: Patcher,
  kubevirt: KubeVirt,
  change: { metadata?: object; status?: object },
  subresource?: string,
): Promise<KubeVirt> {
  const { name = "", namespace, resourceVersion } = kubevirt.metadata;
  return client.patch(kubeVirts, name, namespace, {
    type: "merge",
    body: { ...change, metadata: { ...change.metadata, resourceVersion } },
    ...(subresource === undefined ? {} : { subresource }),
  });
}
