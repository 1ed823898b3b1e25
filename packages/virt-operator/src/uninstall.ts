import { hasCode } from "@polyvirt/core";
import {
  virtualMachineInstanceReplicaSets,
  virtualMachineInstances,
  virtualMachines,
  type KubeVirt,
} from "@polyvirt/api";
import { customResourceDefinitions, type KubeList, type KubeObject, type ResourceType } from "@polyvirt/api/k8s";
import type { KubeClient } from "@polyvirt/kube";
import type { InstalledObjects } from "./installed-objects.ts";
import { isOwn } from "./installation.ts";
import type { Outcome } from "./status.ts";

interface UninstallDeps {
  readonly client: Pick<KubeClient, "list" | "delete">;
  readonly objects: InstalledObjects;
}

/** What makes machines, before what it makes: otherwise it would make them again. */
const workloadTypes: readonly ResourceType[] = [
  virtualMachines,
  virtualMachineInstanceReplicaSets,
  virtualMachineInstances,
];

/**
 * Takes one step of the removal: first the machines, while the roles are there to stop them, then everything that we
 * made, kind by kind. Returns what is still to do, or undefined when nothing is left.
 */
export async function uninstall(kubevirt: KubeVirt, deps: UninstallDeps): Promise<Outcome | undefined> {
  const workloads = await listWorkloads(deps.client);
  if (workloads.length > 0) {
    if (kubevirt.spec.uninstallStrategy === "BlockUninstallIfWorkloadsExist") {
      const message = `Not removed because ${describe(workloads)} exist; delete them first.`;
      return { state: "uninstall-blocked", message };
    }
    await deleteWorkloads(workloads, deps.client);
    return { state: "deleting", message: `Waiting for ${describe(workloads)} to stop.` };
  }
  return removeObjects(kubevirt, deps.objects);
}

interface Workload {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

async function listWorkloads(client: Pick<KubeClient, "list">): Promise<Workload[]> {
  const lists = await Promise.all(
    workloadTypes.map(async (type) => {
      const { items } = await listIfServed(client, type);
      return items.map((object) => ({ type, object }));
    }),
  );
  return lists.flat();
}

/** When the kind is gone, so are its objects. */
async function listIfServed(client: Pick<KubeClient, "list">, type: ResourceType): Promise<KubeList<KubeObject>> {
  try {
    return await client.list(type);
  } catch (error) {
    if (hasCode(error, "KubeNotFound")) return { metadata: {}, items: [] };
    throw error;
  }
}

async function deleteWorkloads(workloads: readonly Workload[], client: Pick<KubeClient, "delete">): Promise<void> {
  for (const { type, object } of workloads) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    const { name = "", namespace, uid } = object.metadata;
    try {
      await client.delete(type, name, namespace, uid === undefined ? {} : { preconditions: { uid } });
    } catch (error) {
      if (!hasCode(error, "KubeNotFound")) throw error;
    }
  }
}

async function removeObjects(kubevirt: KubeVirt, objects: InstalledObjects): Promise<Outcome | undefined> {
  const own = objects.all().filter((object) => isOwn({ uid: kubevirt.metadata.uid ?? "" }, object));
  // Definitions go last: roles that still run would lose the kinds they watch.
  const others = own.filter(({ kind }) => kind !== customResourceDefinitions.kind);
  const next = others.length > 0 ? others : own;
  for (const object of next) {
    if (object.metadata.deletionTimestamp === undefined) await objects.remove(object);
  }
  if (next.length === 0) return undefined;
  const names = next.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return { state: "deleting", message: `Removing ${names.join(", ")}.` };
}

function describe(workloads: readonly Workload[]): string {
  const counts = workloadTypes
    .map((type) => [type.kind, workloads.filter((workload) => workload.type === type)] as const)
    .filter(([, found]) => found.length > 0)
    .map(([kind, found]) => `${found.length} ${kind}${found.length === 1 ? "" : "s"}`);
  const [first] = workloads;
  const example =
    first === undefined ? "" : ` (such as ${first.object.metadata.namespace}/${first.object.metadata.name})`;
  return `${counts.join(", ")}${example}`;
}
