import type { KubeObject } from "@polyvirt/api/k8s";
import { accessObjects } from "./access/access-objects.ts";
import type { CertificatePlan } from "./certificates.ts";
import { admissionObjects } from "./components/admission.ts";
import { definitions } from "./components/definitions.ts";
import { admissionPolicies } from "./components/policies.ts";
import { priorityClass } from "./components/priority-class.ts";
import { virtApiDeployment, virtApiSupport } from "./components/virt-api.ts";
import { virtControllerDeployment, virtControllerSupport } from "./components/virt-controller.ts";
import { virtHandlerDaemonSet } from "./components/virt-handler.ts";
import type { Installation } from "./installation.ts";

export interface InstallStep {
  readonly name: string;
  readonly objects: readonly KubeObject[];
  /** Whether the next step needs these to be ready; otherwise only the whole installation does. */
  readonly wait: boolean;
}

interface PlanInput {
  readonly installation: Installation;
  readonly certificates: CertificatePlan;
  /** Another version is installed and is being replaced. */
  readonly updating: boolean;
}

/** The objects of an installation, in the order in which they are applied. */
export function planInstallation({ installation, certificates, updating }: PlanInput): InstallStep[] {
  const access = accessObjects(installation);
  const foundation = [
    ...definitions(installation),
    priorityClass(installation),
    ...admissionPolicies(installation),
    ...access.filter((object) => !isBinding(object)),
    ...certificates.objects,
    ...virtApiSupport(installation),
    ...virtControllerSupport(installation),
  ];
  return [
    // Nothing in here needs the rest of it; roles need all of it.
    { name: "foundation", objects: foundation, wait: true },
    // A right can only be given once it is defined: the API server looks at what a binding grants.
    { name: "bindings", objects: access.filter(isBinding), wait: false },
    // In an update the node agents go first, because newer controllers may ask of them what older ones cannot do.
    { name: "virt-handler", objects: [virtHandlerDaemonSet(installation)], wait: updating },
    { name: "virt-controller", objects: [virtControllerDeployment(installation)], wait: updating },
    { name: "virt-api", objects: [virtApiDeployment(installation)], wait: true },
    { name: "admission", objects: admissionObjects(installation, certificates.caBundle), wait: false },
  ];
}

function isBinding({ kind }: KubeObject): boolean {
  return kind === "RoleBinding" || kind === "ClusterRoleBinding";
}
