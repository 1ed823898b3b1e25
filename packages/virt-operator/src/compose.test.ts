import { afterEach, describe, expect, it } from "vitest";
import { PolyvirtError, silentLogger } from "@polyvirt/core";
import { createManualClock } from "@polyvirt/core/testing";
import {
  finalizers,
  getCondition,
  kubeVirts,
  virtualMachineInstances,
  type KubeVirt,
  type KubeVirtSpec,
} from "@polyvirt/api";
import {
  apiServices,
  customResourceDefinitions,
  daemonSets,
  deployments,
  type Deployment,
  type KubeObject,
  type ResourceType,
  type Secret,
} from "@polyvirt/api/k8s";
import { registry } from "@polyvirt/hypervisor";
import { composeVirtOperator } from "./compose.ts";
import { defaultKubeVirt } from "./manifest.ts";
import { createFakeCluster } from "./testing/fake-cluster.ts";

const images = {
  virtApi: "registry.test/virt-api:1",
  virtController: "registry.test/virt-controller:1",
  virtHandler: "registry.test/virt-handler:1",
  virtLauncher: "registry.test/virt-launcher-qemu:1",
};

const stop: AbortController[] = [];
afterEach(() => {
  for (const controller of stop.splice(0)) controller.abort();
});

function setUp() {
  const clock = createManualClock();
  const cluster = createFakeCluster(() => clock.now());
  const start = (version: string): AbortController => {
    const controller = new AbortController();
    stop.push(controller);
    const operator = composeVirtOperator({
      client: cluster.client,
      clock,
      logger: silentLogger,
      namespace: "kubevirt",
      identity: "virt-operator-0",
      version,
      architecture: "amd64",
      images,
      hypervisors: registry,
    });
    operator.run(controller.signal).catch((error: unknown) => {
      if (!controller.signal.aborted) throw error;
    });
    return controller;
  };
  const kubevirt = (): KubeVirt => {
    const found = cluster.get("KubeVirt", "kubevirt");
    if (found === undefined) throw new Error("there is no KubeVirt object");
    return found as KubeVirt;
  };
  const condition = (type: string) => getCondition(kubevirt().status, type);
  /** Lets everything that is under way settle. */
  const settle = () => clock.advance(0);
  const setStatus = (type: ResourceType, object: KubeObject, status: object) =>
    cluster.put(type, { ...object, status } as KubeObject);
  /** Does what the cluster's own controllers would do. */
  const makeReady = async (): Promise<void> => {
    for (const object of cluster.list("CustomResourceDefinition")) {
      setStatus(customResourceDefinitions, object, { conditions: [{ type: "Established", status: "True" }] });
    }
    for (const object of cluster.list("Deployment")) {
      const replicas = (object as Deployment).spec.replicas ?? 1;
      const counts = { replicas, updatedReplicas: replicas, availableReplicas: replicas };
      setStatus(deployments, object, { observedGeneration: object.metadata.generation, ...counts });
    }
    for (const object of cluster.list("DaemonSet")) {
      const counts = { desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 };
      setStatus(daemonSets, object, { observedGeneration: object.metadata.generation, ...counts });
    }
    for (const object of cluster.list("APIService")) {
      setStatus(apiServices, object, { conditions: [{ type: "Available", status: "True" }] });
    }
    await settle();
  };
  const deploy = async (spec: Partial<KubeVirtSpec> = {}): Promise<AbortController> => {
    const wanted = defaultKubeVirt();
    cluster.put(kubeVirts, { ...wanted, spec: { ...wanted.spec, ...spec } } as KubeObject);
    const controller = start("1.0.0");
    await settle();
    for (let round = 0; round < 5; round++) await makeReady();
    return controller;
  };
  return { clock, cluster, start, kubevirt, condition, settle, makeReady, deploy };
}

describe("virt-operator", () => {
  it("installs step by step, each when the one before is ready", async () => {
    const { cluster, start, kubevirt, condition, settle, makeReady } = setUp();
    cluster.put(kubeVirts, defaultKubeVirt());
    start("1.0.0");
    await settle();
    expect(cluster.list("CustomResourceDefinition")).toHaveLength(6);
    expect(cluster.list("Deployment")).toHaveLength(0);
    expect(kubevirt().metadata.finalizers).toEqual([finalizers.operator]);
    expect(kubevirt().status?.phase).toBe("Deploying");
    expect(condition("Progressing")?.message).toContain("virtualmachines.kubevirt.io: it is not established yet");

    await makeReady();
    expect(cluster.list("Deployment").map(({ metadata }) => metadata.name)).toEqual(["virt-controller", "virt-api"]);
    expect(cluster.list("MutatingWebhookConfiguration")).toHaveLength(0);
    expect(condition("Available")?.status).toBe("False");

    await makeReady();
    expect(cluster.list("MutatingWebhookConfiguration")).toHaveLength(1);
    await makeReady();
    expect(kubevirt().status).toMatchObject({
      phase: "Deployed",
      observedKubeVirtVersion: "1.0.0",
      observedKubeVirtRegistry: "registry.test",
      operatorVersion: "1.0.0",
    });
    expect(condition("Available")?.status).toBe("True");
    expect(condition("Degraded")?.status).toBe("False");
    expect(cluster.list("Event").map((event) => (event as { reason?: string }).reason)).toEqual(["Deployed"]);
  });

  it("has nothing to do in a finished installation", async () => {
    const { cluster, deploy, settle, clock } = setUp();
    await deploy();
    const before = cluster.writes.length;
    await settle();
    await clock.advance(60_000);
    expect(cluster.writes.slice(before).filter((write) => !write.includes("Lease"))).toEqual([]);
  });

  it("writes nothing that is counted again when it is restarted, unless it was changed meanwhile", async () => {
    const { cluster, deploy, start, settle } = setUp();
    (await deploy()).abort();
    await settle();
    const deployment = cluster.get("Deployment", "virt-controller") as Deployment;
    cluster.put(deployments, { ...deployment, spec: { ...deployment.spec, replicas: 3 } } as KubeObject);
    const before = cluster.writes.length;
    start("1.0.0");
    await settle();
    const counted = /Deployment|DaemonSet|CustomResourceDefinition/;
    expect(cluster.writes.slice(before).filter((write) => counted.test(write))).toEqual([
      "apply Deployment virt-controller",
    ]);
    expect((cluster.get("Deployment", "virt-controller") as Deployment).spec.replicas).toBe(1);
  });

  it("repairs what someone changed or deleted, and says so", async () => {
    const { cluster, deploy, settle, kubevirt } = setUp();
    await deploy();
    const secret = cluster.get("Secret", "kubevirt-virt-api-certs") as Secret;
    const deployment = cluster.get("Deployment", "virt-api") as Deployment;
    cluster.put(deployments, { ...deployment, spec: { ...deployment.spec, replicas: 7 } } as KubeObject);
    cluster.remove("ClusterRole", "kubevirt-handler");
    cluster.remove("Secret", "kubevirt-virt-api-certs");
    await settle();
    expect((cluster.get("Deployment", "virt-api") as Deployment).spec.replicas).toBe(1);
    expect(cluster.get("ClusterRole", "kubevirt-handler")).toBeDefined();
    const renewed = cluster.get("Secret", "kubevirt-virt-api-certs") as Secret;
    expect(renewed.data?.["tls.crt"]).not.toBe(secret.data?.["tls.crt"]);
    expect(renewed.data?.["ca.crt"]).toBe(secret.data?.["ca.crt"]);
    expect(kubevirt().status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Degraded", status: "False" }),
    );
    const messages = cluster.list("Event").map((event) => (event as { message?: string }).message);
    expect(messages.join(" ")).toContain("ClusterRole kubevirt-handler");
  });

  it("renews certificates before they end, keeping the authority", async () => {
    const { cluster, deploy, clock } = setUp();
    const server = { duration: "2h", renewBefore: "30m" };
    await deploy({ certificateRotateStrategy: { selfSigned: { server } } });
    const before = cluster.get("Secret", "kubevirt-virt-api-certs") as Secret;
    await clock.advance(89 * 60_000);
    expect(cluster.get("Secret", "kubevirt-virt-api-certs")).toEqual(before);
    await clock.advance(2 * 60_000);
    const after = cluster.get("Secret", "kubevirt-virt-api-certs") as Secret;
    expect(after.data?.["tls.crt"]).not.toBe(before.data?.["tls.crt"]);
    expect(after.data?.["ca.crt"]).toBe(before.data?.["ca.crt"]);
  });

  it("updates node agents before controllers, and those before virt-api", async () => {
    const { cluster, deploy, start, settle, makeReady, kubevirt } = setUp();
    (await deploy({ imageTag: "old" })).abort();
    await settle();
    const object = kubevirt();
    const { imageTag: _tag, ...spec } = object.spec;
    cluster.put(kubeVirts, { ...object, spec } as KubeObject);
    start("2.0.0");
    await settle();
    const imageOf = (kind: string, name: string) =>
      (cluster.get(kind, name) as Deployment).spec.template.spec.containers[0]?.image;
    expect(imageOf("DaemonSet", "virt-handler")).toBe("registry.test/virt-handler:1");
    expect(imageOf("Deployment", "virt-controller")).toBe("registry.test/virt-controller:old");
    await makeReady();
    expect(imageOf("Deployment", "virt-controller")).toBe("registry.test/virt-controller:1");
    expect(imageOf("Deployment", "virt-api")).toBe("registry.test/virt-api:old");
    for (let round = 0; round < 3; round++) await makeReady();
    expect(imageOf("Deployment", "virt-api")).toBe("registry.test/virt-api:1");
    expect(kubevirt().status).toMatchObject({ phase: "Deployed", observedKubeVirtVersion: "2.0.0" });
  });

  it("says which field it cannot carry out, and changes nothing until it is corrected", async () => {
    const { cluster, deploy, condition, settle, kubevirt, makeReady } = setUp();
    const developerConfiguration = { featureGates: ["ConfigurableHypervisor"] };
    await deploy({ configuration: { developerConfiguration, hypervisor: [{ name: "xen" }] } });
    expect(condition("Degraded")).toMatchObject({ status: "True", reason: "ConfigurationRefused" });
    expect(condition("Degraded")?.message).toContain('spec.configuration.hypervisor[0].name "xen" is not a hypervisor');
    expect(cluster.list("CustomResourceDefinition")).toHaveLength(0);

    const object = kubevirt();
    const spec = { ...object.spec, configuration: { developerConfiguration, hypervisor: [{ name: "kvm" }] } };
    cluster.put(kubeVirts, { ...object, spec } as KubeObject);
    await settle();
    for (let round = 0; round < 4; round++) await makeReady();
    expect(condition("Degraded")?.status).toBe("False");
    expect(kubevirt().status?.phase).toBe("Deployed");
  });

  it("installs although a field has no effect without its gate, and says so", async () => {
    const { deploy, condition, kubevirt } = setUp();
    await deploy({ configuration: { virtualizationProfile: { name: "libvirt-qemu-kvm" } } });
    expect(kubevirt().status?.phase).toBe("Deployed");
    expect(condition("Degraded")).toMatchObject({ status: "True", reason: "ConfigurationIgnored" });
    expect(condition("Degraded")?.message).toContain("PluginVirtualizationStacks");
  });

  it("tells why applying failed and tries again", async () => {
    const { cluster, deploy, condition, clock, makeReady, kubevirt } = setUp();
    cluster.fail("apply Deployment virt-api", new PolyvirtError("KubeForbidden", "apply virt-api", { retry: true }));
    await deploy();
    expect(condition("Degraded")).toMatchObject({
      status: "True",
      reason: "DeploymentFailed",
      message: "apply virt-api",
    });
    cluster.fail("apply Deployment virt-api", undefined);
    await clock.advance(10_000);
    for (let round = 0; round < 3; round++) await makeReady();
    expect(kubevirt().status?.phase).toBe("Deployed");
    expect(condition("Degraded")?.status).toBe("False");
  });

  it("keeps the certificates that it wrote beside a failure", async () => {
    const { cluster, deploy, clock } = setUp();
    cluster.fail("apply Service virt-api", new PolyvirtError("KubeServerError", "apply virt-api", { retry: true }));
    await deploy();
    const before = cluster.get("Secret", "kubevirt-ca");
    expect(before).toBeDefined();
    await clock.advance(10_000);
    expect(cluster.get("Secret", "kubevirt-ca")).toEqual(before);
  });

  it("leaves the cluster to the first of two KubeVirt objects", async () => {
    const { cluster, deploy, settle, clock } = setUp();
    await deploy();
    await clock.advance(1000);
    const second = defaultKubeVirt();
    cluster.put(kubeVirts, { ...second, metadata: { ...second.metadata, name: "second" } });
    await settle();
    const status = (cluster.get("KubeVirt", "second") as KubeVirt).status;
    expect(getCondition(status, "Degraded")?.message).toContain("kubevirt is in charge of this cluster");
  });
});

describe("removal", () => {
  it("takes machines away first, then what calls the roles, and the definitions last", async () => {
    const { cluster, deploy, clock, settle } = setUp();
    await deploy();
    const guest = { name: "guest", namespace: "default", finalizers: ["test/stop"] };
    cluster.put(virtualMachineInstances, { metadata: guest });
    await cluster.client.delete(kubeVirts, "kubevirt", "kubevirt");
    await settle();
    expect(cluster.writes).toContain("delete VirtualMachineInstance guest");
    expect(cluster.list("Deployment")).toHaveLength(2);
    const kubevirt = cluster.get("KubeVirt", "kubevirt") as KubeVirt;
    expect(kubevirt.status?.phase).toBe("Deleting");
    expect(getCondition(kubevirt.status, "Progressing")?.message).toContain("default/guest");

    cluster.remove("VirtualMachineInstance", "guest");
    await clock.advance(10_000);
    expect(cluster.get("KubeVirt", "kubevirt")).toBeUndefined();
    const left = ["Deployment", "DaemonSet", "Secret", "ClusterRole", "CustomResourceDefinition", "APIService"];
    expect(left.flatMap((kind) => cluster.list(kind))).toEqual([]);
    const deletions = cluster.writes.filter((write) => write.startsWith("delete ")).map((write) => write.split(" ")[1]);
    expect(deletions.indexOf("MutatingWebhookConfiguration")).toBeLessThan(deletions.indexOf("Deployment"));
    expect(deletions.lastIndexOf("CustomResourceDefinition")).toBe(deletions.length - 1);
  });

  it("waits for the user where machines block it", async () => {
    const { cluster, deploy, settle, clock } = setUp();
    await deploy({ uninstallStrategy: "BlockUninstallIfWorkloadsExist" });
    cluster.put(virtualMachineInstances, { metadata: { name: "guest", namespace: "default" } });
    await cluster.client.delete(kubeVirts, "kubevirt", "kubevirt");
    await settle();
    await clock.advance(5000);
    const kubevirt = cluster.get("KubeVirt", "kubevirt") as KubeVirt;
    expect(getCondition(kubevirt.status, "Degraded")).toMatchObject({ status: "True", reason: "UninstallBlocked" });
    expect(cluster.get("VirtualMachineInstance", "guest")).toBeDefined();
    cluster.remove("VirtualMachineInstance", "guest");
    await clock.advance(10_000);
    expect(cluster.get("KubeVirt", "kubevirt")).toBeUndefined();
  });

  it("does not touch objects of another installation", async () => {
    const { cluster, deploy, clock, settle } = setUp();
    await deploy();
    const labels = { "app.kubernetes.io/managed-by": "virt-operator" };
    cluster.put(deployments, {
      metadata: { name: "foreign", namespace: "kubevirt", labels },
      spec: { selector: {}, template: { spec: { containers: [] } } },
    } as Deployment);
    await cluster.client.delete(kubeVirts, "kubevirt", "kubevirt");
    await settle();
    await clock.advance(10_000);
    expect(cluster.get("KubeVirt", "kubevirt")).toBeUndefined();
    expect(cluster.get("Deployment", "foreign")).toBeDefined();
  });
});
