import { labels } from "@polyvirt/api";
import type { Container, Deployment, PodDisruptionBudget, PodSpec, Volume } from "@polyvirt/api/k8s";
import { ownMetadata, placement, roleEnvironment, type Installation } from "../installation.ts";
import { priorityClassName } from "./priority-class.ts";

interface RoleDeployment {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly ports: NonNullable<Container["ports"]>;
  readonly readinessProbe: NonNullable<Container["readinessProbe"]>;
  readonly livenessProbe: NonNullable<Container["livenessProbe"]>;
  readonly memory: string;
  readonly certificates: readonly { readonly secret: string; readonly mountPath: string }[];
}

const defaultReplicas = 2;

/** A role of the control plane: replicas anywhere in the cluster, apart from each other where that is possible. */
export function roleDeployment(installation: Installation, role: RoleDeployment): Deployment {
  const selector = { [labels.role]: role.name };
  const metadata = ownMetadata(installation, role.name, installation.namespace);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, labels: { ...metadata.labels, ...selector } },
    spec: {
      replicas: replicasOf(installation),
      selector: { matchLabels: selector },
      strategy: { type: "RollingUpdate" },
      template: {
        metadata: { labels: { ...metadata.labels, ...selector }, annotations: defaultContainer(role.name) },
        spec: podSpec(installation, role, selector),
      },
    },
  };
}

function podSpec(installation: Installation, role: RoleDeployment, selector: Record<string, string>): PodSpec {
  return {
    serviceAccountName: role.name,
    priorityClassName,
    ...placement(installation.infra),
    affinity: placement(installation.infra).affinity ?? spread(selector),
    securityContext: { seccompProfile: { type: "RuntimeDefault" } },
    ...(installation.imagePullSecrets.length > 0 ? { imagePullSecrets: installation.imagePullSecrets } : {}),
    containers: [
      {
        name: role.name,
        image: role.image,
        imagePullPolicy: installation.imagePullPolicy,
        ...(role.args === undefined ? {} : { args: [...role.args] }),
        env: roleEnvironment(installation),
        ports: role.ports,
        readinessProbe: role.readinessProbe,
        livenessProbe: role.livenessProbe,
        resources: { requests: { cpu: "5m", memory: role.memory } },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        volumeMounts: role.certificates.map(({ secret, mountPath }) => ({ name: secret, mountPath, readOnly: true })),
      },
    ],
    volumes: role.certificates.map(({ secret }) => certificateVolume(secret)),
  };
}

/** With several replicas, one may be taken away at a time. */
export function roleDisruptionBudget(installation: Installation, role: string): PodDisruptionBudget[] {
  if (replicasOf(installation) < 2) return [];
  return [
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: ownMetadata(installation, `${role}-pdb`, installation.namespace),
      spec: { minAvailable: 1, selector: { matchLabels: { [labels.role]: role } } },
    },
  ];
}

export function certificateVolume(secret: string): Volume {
  return { name: secret, secret: { secretName: secret } };
}

export function defaultContainer(name: string): Record<string, string> {
  return { "kubectl.kubernetes.io/default-container": name };
}

function replicasOf(installation: Installation): number {
  return installation.infra.replicas ?? defaultReplicas;
}

function spread(selector: Record<string, string>): NonNullable<PodSpec["affinity"]> {
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: selector } },
        },
      ],
    },
  };
}
