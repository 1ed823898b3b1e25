import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually, repositoryRoot } from "./cluster.ts";
import { typeInConsole } from "./console.ts";
import { guestManifest, type Vmi } from "./guest.ts";

/** The same program under another name, as a later version would be. */
const otherImage = "example.test/virt-handler:2";
const otherNodes = { pool: "other" };

interface DaemonSet {
  metadata: Record<string, unknown>;
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: {
      metadata: { labels: Record<string, string> };
      spec: {
        nodeSelector: Record<string, string>;
        affinity?: unknown;
        containers: { name: string; image: string }[];
      };
    };
  };
  status: { desiredNumberScheduled: number; numberReady: number };
}

describe("two node agents of different images in one installation", () => {
  let cluster: TestCluster;
  const boots = new Map<string, string>();
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up("--nodes", "2");
    await cluster.polyvirt("image", "build-demo");
    const command = `${process.execPath} ${join(repositoryRoot, "dist/virt-handler.js")}`;
    await cluster.polyvirt("image", "add", otherImage, "--exec", command);
  });
  afterAll(() => cluster.destroy());

  const must = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const handlers = (name: string) => cluster.json<DaemonSet>("get", "daemonset", "-n", "kubevirt", name);
  const agents = async (): Promise<string[]> => {
    const line = '{range .items[*]}{.spec.nodeName}={.spec.containers[0].image}{"\\n"}{end}';
    const all = await must("get", "pods", "-n", "kubevirt", "-l", "kubevirt.io=virt-handler", "-o", `jsonpath=${line}`);
    return all.trim().split("\n").toSorted();
  };
  /** Made anew at each boot. */
  const bootId = async (name: string): Promise<string> => {
    const input = "sed s/^/boot=/ /proc/sys/kernel/random/boot_id\n";
    const shown = await typeInConsole(cluster, name, { input, until: /boot=[0-9a-f-]{36}/ });
    return /boot=([0-9a-f-]{36})/.exec(shown)?.[1] ?? "";
  };
  const act = async (name: string, verb: string): Promise<void> => {
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/${name}/${verb}`;
    await must("replace", "--raw", path, "-f", "/dev/null");
  };
  const isPaused = async (name: string): Promise<boolean> => {
    const { status } = await cluster.json<Vmi>("get", "vmi", name);
    return status?.conditions?.some(({ type, status: state }) => type === "Paused" && state === "True") === true;
  };

  it("share the nodes between them", async () => {
    await must("label", "node", "node-2", "pool=other");
    const elsewhere = { matchExpressions: [{ key: "pool", operator: "DoesNotExist" }] };
    const affinity = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [elsewhere] } },
    };
    const patch = JSON.stringify({ spec: { workloads: { nodePlacement: { affinity } } } });
    await must("patch", "kubevirt", "kubevirt", "-n", "kubevirt", "--type=merge", "-p", patch);
    await eventually(agents, (all) => all.length === 1 && all[0]?.startsWith("node-1=") === true);
    const { spec } = await handlers("virt-handler");
    const labels = { ...spec.template.metadata.labels, ...otherNodes };
    const { affinity: _, ...podSpec } = spec.template.spec;
    const other = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "virt-handler-other", namespace: "kubevirt" },
      spec: {
        ...spec,
        selector: { matchLabels: { ...spec.selector.matchLabels, ...otherNodes } },
        template: {
          metadata: { ...spec.template.metadata, labels },
          spec: {
            ...podSpec,
            nodeSelector: { ...podSpec.nodeSelector, ...otherNodes },
            containers: podSpec.containers.map((container) => ({ ...container, image: otherImage })),
          },
        },
      },
    };
    const applied = await cluster.apply(JSON.stringify(other));
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    await eventually(
      () => handlers("virt-handler-other"),
      ({ status }) => status.desiredNumberScheduled === 1 && status.numberReady === 1,
    );
    expect(await agents()).toMatchObject([expect.stringMatching(/^node-1=polyvirt\.local/), `node-2=${otherImage}`]);
  });

  it.each(["node-1", "node-2"])("each look after the guests of %s", async (node) => {
    const name = `guest-of-${node}`;
    const extra = `  nodeSelector: { kubernetes.io/hostname: ${node} }\n`;
    expect(await cluster.apply(guestManifest(name, { extra }))).toMatchObject({ code: 0, stderr: "" });
    const { status } = await eventually(
      () => cluster.json<Vmi>("get", "vmi", name),
      (vmi) => vmi.status?.phase === "Running",
    );
    expect(status?.nodeName).toBe(node);
    boots.set(name, await bootId(name));
    await act(name, "pause");
    await eventually(
      () => isPaused(name),
      (paused) => paused,
    );
    await act(name, "unpause");
    await eventually(
      () => isPaused(name),
      (paused) => !paused,
    );
  });

  it("take over each other's guests without these noticing", async () => {
    await must("delete", "daemonset", "-n", "kubevirt", "virt-handler-other", "--wait");
    await must("label", "node", "node-2", "pool-");
    await eventually(agents, (all) => all.length === 2 && all.every((agent) => !agent.includes(otherImage)));
    await eventually(
      () => handlers("virt-handler"),
      ({ status }) => status.desiredNumberScheduled === 2 && status.numberReady === 2,
    );
    const name = "guest-of-node-2";
    expect(await bootId(name)).toBe(boots.get(name));
    await act(name, "pause");
    await eventually(
      () => isPaused(name),
      (paused) => paused,
    );
    expect((await cluster.json<Vmi>("get", "vmi", name)).status?.phase).toBe("Running");
  });
});
