import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { leases, nodes as nodeResource, pods as podResource } from "@polyvirt/api/k8s";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import { haltNode, type ComposedNode } from "@polyvirt/embedded";
import type { KubeClient } from "@polyvirt/kube";
import { errors } from "./errors.ts";
import { removeFolder } from "./remove-folder.ts";

interface RetireDependencies {
  /** The administrator's. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder with one folder per node. */
  readonly directory: string;
  compose(name: string, index: number): ComposedNode;
}

const cleanupLimitMs = 60_000;

export const nodeName = (index: number): string => `node-${index}`;

/** Nodes that have a folder although the cluster shall have fewer. */
export async function surplusNodes(directory: string, wanted: number): Promise<number[]> {
  const folders = await readdir(directory).catch(() => []);
  const indexes = folders.flatMap((name) => Number(/^node-(\d+)$/.exec(name)?.[1] ?? 0));
  return indexes.filter((index) => index > wanted).toSorted((left, right) => left - right);
}

/**
 * Removes nodes from the cluster together with their pods. Nothing is moved elsewhere: what a Deployment or DaemonSet owned
 * is made again where it fits. Containers that an earlier process left running are ended by the node's own kubelet first.
 */
export async function retireNodes(indexes: readonly number[], dependencies: RetireDependencies): Promise<void> {
  for (const index of indexes) {
    const name = nodeName(index);
    await deletePods(name, dependencies.client);
    await endContainers(name, index, dependencies);
    await ignoreAbsent(dependencies.client.delete(nodeResource, name));
    await ignoreAbsent(dependencies.client.delete(leases, name, "kube-node-lease"));
    await haltNode(name, join(dependencies.directory, name), { clock: dependencies.clock, graceMs: 0 });
    await removeFolder(join(dependencies.directory, name));
    dependencies.logger.info("node is removed", { node: name });
  }
}

async function deletePods(node: string, client: KubeClient): Promise<void> {
  const { items } = await client.list(podResource, { fieldSelector: `spec.nodeName=${node}` });
  for (const { metadata } of items) {
    await ignoreAbsent(client.delete(podResource, metadata.name ?? "", metadata.namespace, { gracePeriodSeconds: 0 }));
  }
}

/** A kubelet that finds pods in its folder which the API no longer has ends them and removes their folders. */
async function endContainers(name: string, index: number, dependencies: RetireDependencies): Promise<void> {
  const { clock, directory } = dependencies;
  const remaining = async () => (await readdir(join(directory, name, "runtime")).catch(() => [])).length;
  if ((await remaining()) === 0) return;
  const stop = new AbortController();
  const running = dependencies.compose(name, index).run(stop.signal);
  const deadline = clock.monotonic() + cleanupLimitMs;
  while ((await remaining()) > 0) {
    if (clock.monotonic() > deadline)
      throw errors.CliClusterStartFailed(
        `remove ${name}: its containers did not end within ${cleanupLimitMs / 1000} s`,
      );
    await clock.sleep(50);
  }
  stop.abort();
  await running.catch(() => undefined);
}

async function ignoreAbsent(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasCode(error, "KubeNotFound")) throw error;
  }
}
