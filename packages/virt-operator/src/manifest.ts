import { labels, ports, type KubeVirt } from "@polyvirt/api";
import { buildCustomResourceDefinition } from "@polyvirt/api/crds";
import type { Deployment, KubeObject, Namespace } from "@polyvirt/api/k8s";
import { accountObjects } from "./access/access-objects.ts";
import { virtOperatorAccess } from "./access/operator-access.ts";
import type { RoleImages } from "./images.ts";
import { placement, roleEnvironment } from "./installation.ts";

interface ManifestOptions {
  readonly namespace?: string;
  readonly version: string;
  readonly images: RoleImages & { readonly virtOperator: string };
  /** ES modules with hypervisors out of tree, as every role's image has them. */
  readonly hypervisorModules?: readonly string[];
}

export const defaultNamespace = "kubevirt";
const virtOperator = "virt-operator";

/** Which variable of its environment tells virt-operator which image. */
export const imageVariables = {
  virtApi: "VIRT_API_IMAGE",
  virtController: "VIRT_CONTROLLER_IMAGE",
  virtHandler: "VIRT_HANDLER_IMAGE",
  virtLauncher: "VIRT_LAUNCHER_IMAGE",
} as const satisfies Record<keyof RoleImages, string>;

/** What a cluster needs before it has a KubeVirt object: apply it with the rights of an administrator. */
export function operatorManifest(options: ManifestOptions): KubeObject[] {
  const namespace = options.namespace ?? defaultNamespace;
  const ownLabels = { [labels.role]: virtOperator, [labels.version]: options.version };
  const metadata = (name: string, inNamespace?: string): KubeObject["metadata"] => ({
    name,
    ...(inNamespace === undefined ? {} : { namespace: inNamespace }),
    labels: ownLabels,
  });
  const home: Namespace = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespace,
      // virt-handler and launchers need more than the restricted pod security standard allows.
      labels: { ...ownLabels, "pod-security.kubernetes.io/enforce": "privileged" },
    },
  };
  const definition = buildCustomResourceDefinition("KubeVirt");
  return [
    home,
    { ...definition, metadata: metadata(definition.metadata.name ?? "") },
    ...accountObjects(virtOperatorAccess, { namespace, metadata }),
    operatorDeployment(options, namespace, ownLabels),
  ];
}

function operatorDeployment(
  options: ManifestOptions,
  namespace: string,
  ownLabels: Record<string, string>,
): Deployment {
  const selector = { [labels.role]: virtOperator };
  const { images } = options;
  const imageNames = (Object.keys(imageVariables) as (keyof typeof imageVariables)[]).map((role) => ({
    name: imageVariables[role],
    value: images[role],
  }));
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: virtOperator, namespace, labels: ownLabels },
    spec: {
      replicas: 1,
      selector: { matchLabels: selector },
      strategy: { type: "Recreate" },
      template: {
        metadata: { labels: ownLabels },
        spec: {
          serviceAccountName: virtOperator,
          ...placement({}),
          securityContext: { seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: virtOperator,
              image: images.virtOperator,
              imagePullPolicy: "IfNotPresent",
              env: [
                ...roleEnvironment({ hypervisorModules: options.hypervisorModules ?? [] }),
                { name: "OPERATOR_VERSION", value: options.version },
                ...imageNames,
              ],
              ports: [{ name: "health", containerPort: ports.health, protocol: "TCP" }],
              readinessProbe: { httpGet: { path: "/readyz", port: ports.health }, periodSeconds: 2 },
              livenessProbe: { httpGet: { path: "/healthz", port: ports.health }, initialDelaySeconds: 15 },
              resources: { requests: { cpu: "5m", memory: "96Mi" } },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            },
          ],
        },
      },
    },
  };
}

/** A KubeVirt object for one machine: software emulation where there is no device, one replica of each role. */
export function defaultKubeVirt(namespace: string = defaultNamespace): KubeVirt {
  return {
    apiVersion: "kubevirt.io/v1",
    kind: "KubeVirt",
    metadata: { name: "kubevirt", namespace },
    spec: {
      infra: { replicas: 1 },
      configuration: { developerConfiguration: { useEmulation: true } },
    },
  };
}
