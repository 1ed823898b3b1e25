import { buildCustomResourceDefinitions } from "@polyvirt/api/crds";
import type { CustomResourceDefinition } from "@polyvirt/api/k8s";
import { ownMetadata, type Installation } from "../installation.ts";

/** The kind of the object that this operator reads comes with the operator's manifest and stays when we go. */
const kubeVirtDefinition = "kubevirts.kubevirt.io";

export function definitions(installation: Installation): CustomResourceDefinition[] {
  return buildCustomResourceDefinitions()
    .filter((definition) => definition.metadata.name !== kubeVirtDefinition)
    .map((definition) => ({
      ...definition,
      metadata: ownMetadata(installation, definition.metadata.name ?? ""),
    }));
}
