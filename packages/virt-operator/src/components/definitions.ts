import { buildCustomResourceDefinitions } from "@polyvirt/api/crds";
import type { CustomResourceDefinition } from "@polyvirt/api/k8s";
import { ownMetadata, type Installation } from "../installation.ts";

/** The kind of the object that this operator reads comes with the operator's manifest and stays when we go. */
const kubeVirtDefinition = "kubevirts.kubevirt.io";

let latest: { readonly key: string; readonly objects: CustomResourceDefinition[] } | undefined;

/** Built once for an installation: they are the largest objects by far and do not depend on its settings. */
export function definitions(installation: Installation): CustomResourceDefinition[] {
  const key = JSON.stringify(ownMetadata(installation, ""));
  if (latest?.key !== key) latest = { key, objects: build(installation) };
  return latest.objects;
}

function build(installation: Installation): CustomResourceDefinition[] {
  return buildCustomResourceDefinitions()
    .filter((definition) => definition.metadata.name !== kubeVirtDefinition)
    .map((definition) => ({
      ...definition,
      metadata: ownMetadata(installation, definition.metadata.name ?? ""),
    }));
}
