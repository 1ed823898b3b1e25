import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualMachineInstances as vmis, type VirtualMachineInstanceStatus } from "@polyvirt/api";
import { buildCustomResourceDefinitions } from "@polyvirt/api/crds";
import {
  clusterRoleBindings,
  clusterRoles,
  customResourceDefinitions,
  namespaces,
  nodes,
  pods,
  roleBindings,
  roles,
  serviceAccounts,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  type KubeObject,
  type ResourceType,
} from "@polyvirt/api/k8s";
import { describeError, silentLogger, systemClock } from "@polyvirt/core";
import { createApiServer, type ApiServer } from "@polyvirt/embedded";
import { registry } from "@polyvirt/hypervisor";
import { createKubeClient, fixedCredentials, type KubeClient, type KubeConnection } from "@polyvirt/kube";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { accountObjects } from "../access/access-objects.ts";
import { virtControllerAccess } from "../access/virt-controller-access.ts";
import { virtHandlerAccess } from "../access/virt-handler-access.ts";
import { readInstallation } from "../installation.ts";
import { admissionPolicies } from "./policies.ts";

const image = "r/x:1";
const images = { virtApi: image, virtController: image, virtHandler: image, virtLauncher: image };
const metadata = { name: "kubevirt", namespace: "kubevirt", uid: "u" };
const installation = readInstallation({ metadata, spec: {} }, { version: "1", images, hypervisors: registry });

let folder: string;
let server: ApiServer;
let admin: KubeClient;
let handler: KubeClient;
const clients: KubeClient[] = [];

const clientWith = (connection: KubeConnection): KubeClient => {
  const client = createKubeClient({ connection, clock: systemClock, logger: silentLogger });
  clients.push(client);
  return client;
};

/** A client with the token that the kubelet gives to a pod of this account on this node. */
async function podClient(account: string, nodeName?: string): Promise<KubeClient> {
  const name = `${account}-${nodeName ?? "nowhere"}`;
  const place = nodeName === undefined ? {} : { nodeName };
  const pod = await admin.create(pods, {
    metadata: { name, namespace: "kubevirt" },
    spec: { serviceAccountName: account, containers: [{ name: "c", image }], ...place },
  });
  const boundObjectRef = { kind: "Pod", apiVersion: "v1", name, uid: pod.metadata.uid };
  const { status } = await admin.createSubresource<{ status: { token: string } }>(
    serviceAccounts,
    { name: account, namespace: "kubevirt", subresource: "token" },
    { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { boundObjectRef } },
  );
  const base = server.connectionAs("nobody", []);
  return clientWith({ ...base, credentials: fixedCredentials({ token: status.token }) });
}

const types: readonly ResourceType[] = [
  serviceAccounts,
  clusterRoles,
  clusterRoleBindings,
  roles,
  roleBindings,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
];

async function install(objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const type = types.find(({ kind }) => kind === object.kind);
    if (type === undefined) throw new Error(`this test installs no ${object.kind}`);
    await admin.create(type, object);
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "polyvirt-policies-"));
  server = createApiServer({ dataDir: folder, port: 0, logger: silentLogger });
  await server.start();
  admin = clientWith(server.connectionAs("admin", ["system:masters"]));
  for (const definition of buildCustomResourceDefinitions()) await admin.create(customResourceDefinitions, definition);
  await admin.create(namespaces, { metadata: { name: "kubevirt" } });
  const context = {
    namespace: "kubevirt",
    metadata: (name: string, namespace?: string) => ({ name, ...(namespace === undefined ? {} : { namespace }) }),
  };
  await install([
    ...accountObjects(virtHandlerAccess, context),
    ...accountObjects(virtControllerAccess, context),
    ...admissionPolicies(installation),
  ]);
  for (const name of ["node-1", "node-2"]) {
    await admin.create(nodes, { metadata: { name } });
    await vi.waitFor(() => makeGuest(`guest-${name}`, { nodeName: name }));
  }
  handler = await podClient("virt-handler", "node-1");
  // Policies come into force a moment after they were made.
  await vi.waitUntil(async () => {
    const answer = await failure(() => handler.patch(nodes, "node-2", undefined, label("probe")));
    return answer.includes("kubevirt-node-restriction");
  }, 10_000);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function makeGuest(name: string, status: VirtualMachineInstanceStatus): Promise<void> {
  await admin.create(vmis, { metadata: { name, namespace: "default" }, spec: { domain: { devices: {} } } });
  await admin.patch(vmis, name, "default", { type: "merge", subresource: "status", body: { status } });
}

async function failure(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return "allowed";
  } catch (error) {
    return describeError(error);
  }
}

const label = (value: string) => ({ type: "merge", body: { metadata: { labels: { test: value } } } }) as const;
const status = (phase: string) => ({ type: "merge", subresource: "status", body: { status: { phase } } }) as const;

describe("a node agent", () => {
  it("reports on the guests of its node and on the node itself", async () => {
    await handler.patch(vmis, "guest-node-1", "default", status("Running"));
    await handler.patch(vmis, "guest-node-1", "default", label("a"));
    await handler.patch(nodes, "node-1", undefined, label("a"));
    const conditions = [{ type: "KubeVirtHypervisorDeviceUsable", status: "True" }];
    await handler.patch(nodes, "node-1", undefined, {
      type: "strategic",
      subresource: "status",
      body: { status: { conditions } },
    });
    expect((await admin.get(vmis, "guest-node-1", "default")).status?.phase).toBe("Running");
  });

  it.each([
    ["the guest of another node", () => handler.patch(vmis, "guest-node-2", "default", label("b"))],
    ["its status", () => handler.patch(vmis, "guest-node-2", "default", status("Failed"))],
    ["another node", () => handler.patch(nodes, "node-2", undefined, label("b"))],
    [
      "its status",
      () => handler.patch(nodes, "node-2", undefined, { type: "merge", subresource: "status", body: { status: {} } }),
    ],
  ])("is kept from %s", async (_what, act) => {
    expect(await failure(act)).toMatch(/virt-handler of node node-1 may only change/);
    expect((await admin.get(vmis, "guest-node-2", "default")).status?.phase).toBeUndefined();
  });

  it("may take over a guest that is on its way to its node", async () => {
    await makeGuest("moving", { nodeName: "node-2", migrationState: { targetNode: "node-1" } });
    await handler.patch(vmis, "moving", "default", status("Running"));
    expect((await admin.get(vmis, "moving", "default")).status?.phase).toBe("Running");
  });

  it("may do nothing with a token that was not given to a pod on a node", async () => {
    const stray = await podClient("virt-handler");
    expect(await failure(() => stray.patch(vmis, "guest-node-1", "default", status("Failed")))).toMatch(
      /names no node/,
    );
  });
});

describe("a pod that claims to belong to a guest", () => {
  const forged = (name: string, uid: string) => ({
    metadata: {
      name,
      namespace: "default",
      labels: { "kubevirt.io": "virt-launcher", "kubevirt.io/created-by": uid },
      ownerReferences: [
        { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name: "guest-node-1", uid, controller: true },
      ],
    },
    spec: { containers: [{ name: "compute", image }] },
  });
  const uidOf = async () => (await admin.get(vmis, "guest-node-1", "default")).metadata.uid ?? "";

  it("is made by virt-controller and by nobody else, not even an administrator", async () => {
    const uid = await uidOf();
    expect(await failure(() => admin.create(pods, forged("forged", uid)))).toMatch(/only virt-controller makes pods/);
    const controller = await podClient("virt-controller", "node-1");
    await controller.create(pods, forged("real", uid));
    // Others may go on changing what is theirs to change.
    await admin.patch(pods, "real", "default", label("c"));
  });

  it("cannot become one afterwards", async () => {
    const { ownerReferences, ...plain } = forged("plain", await uidOf()).metadata;
    await admin.create(pods, { metadata: plain, spec: { containers: [{ name: "compute", image }] } });
    const body = { metadata: { ownerReferences } };
    expect(await failure(() => admin.patch(pods, "plain", "default", { type: "merge", body }))).toMatch(
      /only virt-controller makes pods/,
    );
  });
});
