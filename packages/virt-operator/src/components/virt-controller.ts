import { ports } from "@polyvirt/api";
import type { Deployment, HTTPGetAction, KubeObject } from "@polyvirt/api/k8s";
import type { Installation } from "../installation.ts";
import { roleDeployment, roleDisruptionBudget } from "./role-deployment.ts";

const virtController = "virt-controller";

const probe = (path: string): HTTPGetAction => ({ path, port: ports.health, scheme: "HTTP" });

export function virtControllerDeployment(installation: Installation): Deployment {
  return roleDeployment(installation, {
    name: virtController,
    image: installation.images.virtController,
    args: ["--launcher-image", installation.images.virtLauncher],
    ports: [{ name: "health", containerPort: ports.health, protocol: "TCP" }],
    readinessProbe: { httpGet: probe("/readyz"), periodSeconds: 2, failureThreshold: 3 },
    livenessProbe: { httpGet: probe("/healthz"), initialDelaySeconds: 15, periodSeconds: 10, failureThreshold: 3 },
    memory: "96Mi",
    certificates: [],
  });
}

export function virtControllerSupport(installation: Installation): KubeObject[] {
  return roleDisruptionBudget(installation, virtController);
}
