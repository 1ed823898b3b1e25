import type { KubeObject } from "@polyvirt/api/k8s";
import { operatorManifest } from "@polyvirt/virt-operator";

/** Where the images of a release are found; in the embedded home the catalogue maps these names to local bundles. */
const registry = "polyvirt.local";

export function operatorObjects(version: string, hypervisorModules: readonly string[] = []): KubeObject[] {
  const image = (name: string): string => `${registry}/${name}:${version}`;
  return operatorManifest({
    version,
    hypervisorModules,
    images: {
      virtOperator: image("virt-operator"),
      virtApi: image("virt-api"),
      virtController: image("virt-controller"),
      virtHandler: image("virt-handler"),
      virtLauncher: image("virt-launcher-qemu"),
    },
  });
}
