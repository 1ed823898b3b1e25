import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger, systemClock } from "@polyvirt/core";
import { kubeVirts, virtualMachines, type KubeVirt, type VirtualMachine } from "@polyvirt/api";
import {
  apiVersionOf,
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  daemonSets,
  deployments,
  endpointSlices,
  namespaces,
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  type KubeObject,
  type ResourceType,
} from "@polyvirt/api/k8s";
import { createApiServer, type ApiServer } from "@polyvirt/embedded";
import { registry } from "@polyvirt/hypervisor";
import { createKubeClient, type KubeClient } from "@polyvirt/kube";
import { composeVirtOperator } from "./compose.ts";
import { defaultKubeVirt, operatorManifest } from "./manifest.ts";

const images = { virtApi: "r/a:1", virtController: "r/c:1", virtHandler: "r/h:1", virtLauncher: "r/l:1" };
const manifestTypes: ResourceType[] = [
  namespaces,
  customResourceDefinitions,
  serviceAccounts,
  roles,
  roleBindings,
  clusterRoles,
  clusterRoleBindings,
  deployments,
];

let folder = "";
let server: ApiServer;
let admin: KubeClient;
let virtApi: Server | undefined;
const stop = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "polyvirt-operator-"));
  server = createApiServer({ dataDir: folder, port: 0, logger: silentLogger });
  await server.start();
  admin = clientAs("admin", ["system:masters"]);
});
afterAll(async () => {
  stop.abort();
  virtApi?.close();
  virtApi?.closeAllConnections();
  admin.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

function clientAs(name: string, groups: string[]): KubeClient {
  return createKubeClient({ connection: server.connectionAs(name, groups), clock: systemClock, logger: silentLogger });
}

const operatorClient = (): KubeClient =>
  clientAs("system:serviceaccount:kubevirt:virt-operator", ["system:serviceaccounts"]);
const getKubeVirt = (): Promise<KubeVirt> => admin.get(kubeVirts, "kubevirt", "kubevirt");

/** Asks again until the answer is the expected one. */
const eventually = { timeout: 20_000, interval: 50 };

/** Nothing runs pods here, so the test says that they are ready. */
async function reportReady(type: ResourceType, statusOf: (object: KubeObject) => object): Promise<void> {
  const namespace = type.namespaced ? { namespace: "kubevirt" } : {};
  for (const object of (await admin.list(type, namespace)).items) {
    const { name = "", namespace: inside } = object.metadata;
    await admin.patch(type, name, inside, { type: "merge", body: { status: statusOf(object) }, subresource: "status" });
  }
}

async function reportAllReady(): Promise<void> {
  await reportReady(deployments, ({ metadata }) => ({
    observedGeneration: metadata.generation,
    replicas: 1,
    updatedReplicas: 1,
    availableReplicas: 1,
  }));
  await reportReady(daemonSets, ({ metadata }) => ({
    observedGeneration: metadata.generation,
    currentNumberScheduled: 1,
    numberMisscheduled: 0,
    numberReady: 1,
    desiredNumberScheduled: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
  }));
}

/** Stands for virt-api's pod: shows the certificate that virt-operator issued, behind virt-api's Service. */
async function serveVirtApi(): Promise<void> {
  const { data = {} } = await admin.get(secrets, "kubevirt-virt-api-certs", "kubevirt");
  const read = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString();
  virtApi = createServer({ cert: read("tls.crt"), key: read("tls.key") }, (_request, response) => {
    const resources = { kind: "APIResourceList", groupVersion: "subresources.kubevirt.io/v1", resources: [] };
    response.setHeader("content-type", "application/json").end(JSON.stringify(resources));
  });
  virtApi.listen(0, "127.0.0.1");
  await once(virtApi, "listening");
  const address = virtApi.address();
  await admin.create(endpointSlices, {
    metadata: { name: "virt-api", namespace: "kubevirt", labels: { "kubernetes.io/service-name": "virt-api" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    ports: [{ name: "https", port: typeof address === "object" ? (address?.port ?? 0) : 0 }],
  });
}

describe("virt-operator on a real API server, with its own rights", () => {
  it("is installed by its manifest", async () => {
    for (const object of operatorManifest({ version: "1.0.0", images: { ...images, virtOperator: "r/o:1" } })) {
      const type = manifestTypes.find((item) => item.kind === object.kind && apiVersionOf(item) === object.apiVersion);
      if (type === undefined) throw new Error(`the manifest has a ${object.kind}`);
      await admin.apply(type, object, { fieldManager: "test" });
    }
    // The kind is served a moment after its definition was created.
    await expect
      .poll(() => admin.create(kubeVirts, defaultKubeVirt()).then(({ metadata }) => metadata.name), eventually)
      .toBe("kubevirt");
  });

  it("installs everything", async () => {
    const operator = composeVirtOperator({
      client: operatorClient(),
      clock: systemClock,
      logger: silentLogger,
      namespace: "kubevirt",
      identity: "virt-operator-0",
      version: "1.0.0",
      architecture: "amd64",
      images,
      hypervisors: registry,
    });
    operator.run(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    await expect.poll(() => serveVirtApi().then(() => "served"), eventually).toBe("served");
    const reportedPhase = async (): Promise<string | undefined> => {
      await reportAllReady();
      return (await getKubeVirt()).status?.phase;
    };
    await expect.poll(reportedPhase, eventually).toBe("Deployed");
  });

  it("comes to rest", async () => {
    await delay(500);
    const before = (await getKubeVirt()).metadata.resourceVersion;
    const versions = async (): Promise<(string | undefined)[]> =>
      (await admin.list(secrets, { namespace: "kubevirt" })).items.map(({ metadata }) => metadata.resourceVersion);
    const secretsBefore = await versions();
    await delay(1000);
    expect((await getKubeVirt()).metadata.resourceVersion).toBe(before);
    expect(await versions()).toEqual(secretsBefore);
  });

  it("repairs a deleted right", async () => {
    await admin.delete(clusterRoles, "kubevirt-handler");
    await expect.poll(() => admin.get(clusterRoles, "kubevirt-handler"), eventually).toHaveProperty("rules");
  });

  it("serves our kinds with their schema", async () => {
    const machine: VirtualMachine & { spec: { runing: boolean } } = {
      metadata: { name: "x", namespace: "default" },
      spec: { runing: true, template: { spec: { domain: { devices: {} } } } },
    };
    const options = { fieldValidation: "Strict", dryRun: true } as const;
    await expect(admin.create(virtualMachines, machine, options)).rejects.toThrow(/spec\.runing/);
  });

  it("is gone when its object is deleted", async () => {
    await admin.delete(kubeVirts, "kubevirt", "kubevirt");
    await expect.poll(() => admin.list(kubeVirts), eventually).toHaveProperty("items", []);
    expect((await admin.list(secrets, { namespace: "kubevirt" })).items).toEqual([]);
    const left = (await admin.list(customResourceDefinitions)).items.map(({ metadata }) => metadata.name);
    expect(left).toEqual(["kubevirts.kubevirt.io"]);
  });
});
