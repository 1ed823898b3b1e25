import { createHash } from "node:crypto";
import type { KubeObject, OwnerReference, Pod, PodTemplateSpec } from "@polyvirt/api/k8s";

/** A pod as a workload's template describes it, owned by the workload. */
export function podFromTemplate(
  owner: KubeObject,
  template: PodTemplateSpec,
  extra: { namePrefix: string; labels?: Record<string, string>; annotations?: Record<string, string> },
): Pod {
  const namespace = owner.metadata.namespace;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${extra.namePrefix}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...template.metadata?.labels, ...extra.labels },
      annotations: { ...template.metadata?.annotations, ...extra.annotations },
      ownerReferences: [controllerReference(owner)],
    },
    spec: structuredClone(template.spec),
  };
}

export function controllerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion ?? "",
    kind: owner.kind ?? "",
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** An owner is recognised by UID, never by name. */
export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Short and stable for equal templates, whatever the order of their fields. */
export function templateHash(template: PodTemplateSpec, collisions = 0): string {
  return createHash("sha256")
    .update(`${canonicalJson(template)}#${collisions}`)
    .digest("hex")
    .slice(0, 10);
}

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
