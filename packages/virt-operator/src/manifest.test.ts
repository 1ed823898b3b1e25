import { describe, expect, it } from "vitest";
import type { Deployment, PodSpec } from "@polyvirt/api/k8s";
import { certificateSecrets } from "./certificates.ts";
import { virtApiDeployment } from "./components/virt-api.ts";
import { virtControllerDeployment } from "./components/virt-controller.ts";
import { virtHandlerDaemonSet } from "./components/virt-handler.ts";
import { registry } from "@polyvirt/hypervisor";
import { readInstallation } from "./installation.ts";
import { defaultKubeVirt, operatorManifest } from "./manifest.ts";

const images = { virtApi: "r/a:1", virtController: "r/c:1", virtHandler: "r/h:1", virtLauncher: "r/l:1" };

describe("operatorManifest", () => {
  const objects = operatorManifest({ version: "1.2.3", images: { ...images, virtOperator: "r/o:1" } });

  it("brings the namespace and the kind before what needs them", () => {
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "Namespace kubevirt",
      "CustomResourceDefinition kubevirts.kubevirt.io",
      "ServiceAccount virt-operator",
      "ClusterRole kubevirt-operator",
      "ClusterRoleBinding kubevirt-operator",
      "Role kubevirt-operator",
      "RoleBinding kubevirt-operator",
      "Deployment virt-operator",
    ]);
  });

  it("tells the operator its images and version", () => {
    const deployment = objects.find(({ kind }) => kind === "Deployment") as Deployment;
    const environment = deployment.spec.template.spec.containers[0]?.env ?? [];
    expect(Object.fromEntries(environment.map(({ name, value }) => [name, value]))).toMatchObject({
      OPERATOR_VERSION: "1.2.3",
      VIRT_API_IMAGE: "r/a:1",
      VIRT_LAUNCHER_IMAGE: "r/l:1",
    });
  });
});

describe("hypervisors out of tree", () => {
  const hypervisorModules = ["/opt/own.js", "other-hypervisor"];
  const variable = { name: "HYPERVISOR_MODULES", value: "/opt/own.js,other-hypervisor" };
  const options = { version: "1", images: { ...images, virtOperator: "r/o:1" }, hypervisorModules };
  const installation = readInstallation(defaultKubeVirt(), {
    version: "1",
    hypervisors: registry,
    images,
    hypervisorModules,
  });

  it("are loaded by virt-operator and by every role that it installs", () => {
    const operator = operatorManifest(options).find(({ kind }) => kind === "Deployment") as Deployment;
    const roles = [
      operator,
      virtApiDeployment(installation),
      virtControllerDeployment(installation),
      virtHandlerDaemonSet(installation),
    ];
    for (const { spec } of roles) expect(spec.template.spec.containers[0]?.env).toContainEqual(variable);
  });
});

describe("pod templates", () => {
  const installation = readInstallation(defaultKubeVirt(), { version: "1", hypervisors: registry, images });
  const pods: [string, PodSpec][] = [
    virtApiDeployment(installation),
    virtControllerDeployment(installation),
    virtHandlerDaemonSet(installation),
  ].map(({ metadata, spec }) => [metadata.name ?? "", spec.template.spec]);

  it.each(pods)("%s mounts every volume it declares, and only secrets that are issued", (_name, pod) => {
    const containers = [...(pod.initContainers ?? []), ...pod.containers];
    const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name));
    expect(pod.volumes?.map(({ name }) => name).sort()).toEqual([...new Set(mounts)].sort());
    const secrets = (pod.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);
    expect(secrets.filter((name) => !certificateSecrets.includes(name))).toEqual([]);
  });

  it.each(pods)("%s is watched by probes and knows its place", (_name, pod) => {
    const [container] = pod.containers;
    expect(container?.readinessProbe).toBeDefined();
    expect(container?.livenessProbe).toBeDefined();
    expect(container?.env?.map(({ name }) => name)).toEqual(["POD_NAME", "POD_NAMESPACE", "POD_IP", "NODE_NAME"]);
  });

  it("has one privileged role, the node agent", () => {
    const privileged = pods.filter(([, pod]) => pod.containers.some((c) => c.securityContext?.privileged === true));
    expect(privileged.map(([name]) => name)).toEqual(["virt-handler"]);
  });
});
