import type { TestCluster } from "./cluster.ts";

/** An image whose command is a shell that gets its script as the argument. */
export const shellImage = "e2e.local/shell:1";
export const newerShellImage = "e2e.local/shell:2";

export async function addShellImages(cluster: TestCluster): Promise<void> {
  for (const image of [shellImage, newerShellImage]) {
    const added = await cluster.polyvirt("image", "add", image, "--exec", "/bin/sh -c");
    if (added.code !== 0) throw new Error(added.stderr);
  }
}

export function shell(script: string, more: object = {}): object {
  return { name: "main", image: shellImage, args: [script], ...more };
}

export function pod(name: string, spec: object, labels: Readonly<Record<string, string>> = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: { terminationGracePeriodSeconds: 1, ...spec },
  };
}

export function deployment(name: string, replicas: number, spec: object): object {
  return workload("Deployment", name, { replicas, ...templateOf(name, spec) });
}

export function daemonSet(name: string, spec: object): object {
  return workload("DaemonSet", name, templateOf(name, spec));
}

function templateOf(app: string, spec: object): object {
  return {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { terminationGracePeriodSeconds: 1, ...spec } },
  };
}

function workload(kind: string, name: string, spec: object): object {
  return { apiVersion: "apps/v1", kind, metadata: { name }, spec };
}

export function list(...items: object[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
