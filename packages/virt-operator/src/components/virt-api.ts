import { certificateMounts, labels, ports, virtApiService } from "@polyvirt/api";
import type { Deployment, HTTPGetAction, KubeObject, Service } from "@polyvirt/api/k8s";
import { ownMetadata, type Installation } from "../installation.ts";
import { roleDeployment, roleDisruptionBudget } from "./role-deployment.ts";

const virtApi = "virt-api";

const health: HTTPGetAction = { path: "/healthz", port: ports.virtApi, scheme: "HTTPS" };

export function virtApiDeployment(installation: Installation): Deployment {
  return roleDeployment(installation, {
    name: virtApi,
    image: installation.images.virtApi,
    ports: [{ name: "virt-api", containerPort: ports.virtApi, protocol: "TCP" }],
    readinessProbe: { httpGet: health, periodSeconds: 2, failureThreshold: 3 },
    livenessProbe: { httpGet: health, initialDelaySeconds: 15, periodSeconds: 10, failureThreshold: 3 },
    memory: "96Mi",
    certificates: [certificateMounts.virtApi, certificateMounts.virtHandlerClient],
  });
}

export function virtApiSupport(installation: Installation): KubeObject[] {
  const service: Service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: ownMetadata(installation, virtApiService, installation.namespace),
    spec: {
      type: "ClusterIP",
      selector: { [labels.role]: virtApi },
      ports: [{ name: "https", port: 443, targetPort: ports.virtApi, protocol: "TCP" }],
    },
  };
  return [service, ...roleDisruptionBudget(installation, virtApi)];
}
