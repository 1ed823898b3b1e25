import { kubeVirts, virtualMachineInstances } from "@polyvirt/api";
import { nodes, pods } from "@polyvirt/api/k8s";
import type { KubeClient } from "@polyvirt/kube";
import { parseArguments } from "../arguments.ts";
import { connectWith } from "../cluster-client.ts";
import type { Command } from "../command.ts";
import { findClusterProcess, openDataDir, readClusterState } from "../data-dir.ts";
import { errors } from "../errors.ts";

interface ClusterStatus {
  readonly dataDir: string;
  readonly running: boolean;
  readonly pid?: number;
  readonly server?: string;
  readonly roles?: string;
  readonly nodes?: Readonly<Record<string, string>>;
  readonly pods?: Readonly<Record<string, number>>;
  readonly guests?: Readonly<Record<string, number>>;
}

export const status: Command = {
  usage: [
    "usage: polyvirt status [--output text|json] [--data-dir DIR]",
    "",
    "Exit code 0 when the cluster runs, 3 when it does not.",
    "",
    "  --output, -o     text (default) or json",
    "  --data-dir DIR   the cluster's folder",
  ].join("\n"),
  completions: ["--output", "--data-dir"],
  async run(args, context) {
    const { values } = parseArguments(args, {
      output: { type: "string", short: "o", default: "text" },
      "data-dir": { type: "string" },
    });
    if (!["text", "json"].includes(values.output))
      throw errors.CliUsage(`--output must be text or json, not "${values.output}"`);
    const dataDir = openDataDir(values["data-dir"], context.env);
    const state = await readClusterState(dataDir);
    const identity = await findClusterProcess(dataDir);
    let found: ClusterStatus = { dataDir: dataDir.path, running: false };
    if (identity !== undefined && state !== undefined) {
      const client = await connectWith(dataDir.kubeconfig, context.env);
      const server = `https://127.0.0.1:${state.port}`;
      found = { ...found, running: true, pid: identity.pid, server, ...(await inspect(client)) };
      client.close();
    }
    context.stdout.write(values.output === "json" ? `${JSON.stringify(found, undefined, 2)}\n` : render(found));
    return found.running ? 0 : 3;
  },
};

async function inspect(client: KubeClient): Promise<Partial<ClusterStatus>> {
  const [nodeList, podList, kubeVirt] = await Promise.all([
    client.list(nodes),
    client.list(pods),
    client.get(kubeVirts, "kubevirt", "kubevirt").catch(() => undefined),
  ]);
  // Before virt-operator has installed the kind there are no guests to count.
  const guests = await client.list(virtualMachineInstances).catch(() => undefined);
  return {
    roles: kubeVirt?.status?.phase ?? "not installed",
    nodes: Object.fromEntries(
      nodeList.items.map((node) => {
        const ready = node.status?.conditions?.find((condition) => condition.type === "Ready");
        return [node.metadata.name ?? "", ready?.status === "True" ? "Ready" : "NotReady"];
      }),
    ),
    pods: countBy(podList.items.map((pod) => pod.status?.phase ?? "Pending")),
    guests: countBy((guests?.items ?? []).map((guest) => guest.status?.phase ?? "Pending")),
  };
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

function render(found: ClusterStatus): string {
  if (!found.running) return `The cluster in ${found.dataDir} is not running. Start it with: polyvirt up\n`;
  const count = (counts: Readonly<Record<string, number>> = {}) =>
    Object.entries(counts)
      .map(([name, number]) => `${number} ${name}`)
      .join(", ") || "none";
  const nodeNames = Object.entries(found.nodes ?? {}).map(([name, state]) => `${name} ${state}`);
  return [
    `API server  ${found.server} (process ${found.pid})`,
    `data        ${found.dataDir}`,
    `roles       ${found.roles}`,
    `nodes       ${nodeNames.join(", ") || "none"}`,
    `pods        ${count(found.pods)}`,
    `guests      ${count(found.guests)}`,
    "",
  ].join("\n");
}
