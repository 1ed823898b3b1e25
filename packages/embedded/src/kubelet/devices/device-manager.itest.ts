import * as fs from "node:fs";
import * as path from "node:path";
import { events, nodes, pods } from "@polyvirt/api/k8s";
import {
  createGrpcClient,
  createGrpcServer,
  devicePluginV1beta1,
  grpcService,
  type GrpcServer,
} from "@polyvirt/protocol/device-plugin";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NodeHarness, shell } from "../../testing/node-harness.ts";

const resource = "example.com/widget";

let node: NodeHarness;
let plugin: TestPlugin | undefined;
beforeEach(() => {
  node = new NodeHarness();
  node.startNode();
});
afterEach(async () => {
  await plugin?.stop();
  plugin = undefined;
  await node.dispose();
});

const directory = (): string => path.join(node.base, "node/kubelet/device-plugins");

/** A plug-in whose devices the test changes. */
class TestPlugin {
  readonly #server: GrpcServer;
  readonly calls: string[] = [];
  #devices: { ID: string; health: string }[];
  #changed: () => void = () => {};
  #stopped = false;

  /** `dataPath` is where containers find the plug-in's mount. */
  constructor(devices: Record<string, string>, dataPath = "/widget-data") {
    this.#devices = entries(devices);
    this.#server = createGrpcServer([
      grpcService(devicePluginV1beta1.DevicePlugin, {
        getDevicePluginOptions: async () => ({ preStartRequired: true, getPreferredAllocationAvailable: true }),
        listAndWatch: (_request, { signal }) => this.#list(signal),
        getPreferredAllocation: async ({ containerRequests }) => ({
          containerResponses: containerRequests.map(({ availableDeviceIDs, allocationSize }) => ({
            deviceIDs: availableDeviceIDs.toReversed().slice(0, allocationSize),
          })),
        }),
        allocate: async ({ containerRequests }) => {
          const ids = containerRequests.flatMap(({ devicesIds }) => devicesIds);
          this.calls.push(`allocate ${ids.join()}`);
          return {
            containerResponses: [
              {
                envs: { WIDGET: ids.join() },
                mounts: [{ containerPath: dataPath, hostPath: "/etc/hostname", readOnly: true }],
                devices: [{ containerPath: "/dev/widget", hostPath: "/dev/zero", permissions: "rw" }],
              },
            ],
          };
        },
        preStartContainer: async ({ devicesIds }) => {
          this.calls.push(`pre-start ${devicesIds.join()}`);
          return {};
        },
      }),
    ]);
  }

  async *#list(signal: AbortSignal): AsyncGenerator<{ devices: { ID: string; health: string }[] }> {
    while (!signal.aborted && !this.#stopped) {
      yield { devices: this.#devices };
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  set(devices: Record<string, string>): void {
    this.#devices = entries(devices);
    this.#changed();
  }

  async register(endpoint = "widget.sock", version = "v1beta1", name = resource): Promise<void> {
    await vi.waitUntil(() => fs.existsSync(path.join(directory(), "kubelet.sock")), 5000);
    if (!fs.existsSync(path.join(directory(), endpoint))) await this.#server.listen(`unix:${directory()}/${endpoint}`);
    const client = createGrpcClient(devicePluginV1beta1.Registration, `unix:${directory()}/kubelet.sock`);
    await client.register({ version, endpoint, resourceName: name }).finally(() => client.close());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#changed();
    await this.#server.close(0);
  }
}

function entries(devices: Record<string, string>): { ID: string; health: string }[] {
  return Object.entries(devices).map(([ID, health]) => ({ ID, health }));
}

async function amounts(): Promise<string> {
  const { status } = await node.client.get(nodes, "node-1");
  return `${status?.allocatable?.[resource]}/${status?.capacity?.[resource]}`;
}

async function expectReport(expected: string): Promise<void> {
  await vi.waitFor(async () => expect(await amounts()).toBe(expected), 10_000);
}

const wanting = (count: number, script = "exec sleep 1000") => ({
  containers: [shell(script, { resources: { limits: { [resource]: String(count) } } })],
});

describe("device plug-ins", () => {
  it("register, and their devices show in the node and reach containers", async () => {
    plugin = new TestPlugin({ a: "Healthy", b: "Healthy", c: "Unhealthy" });
    await plugin.register();
    await expectReport("2/3");
    const script =
      "echo $WIDGET; cat /widget-data > /dev/null && echo data; head -c 3 /dev/widget | od -An -tx1; ls /dev/zero";
    const pod = await node.createPod("user", { ...wanting(1, script), restartPolicy: "Never" });
    await node.podInPhase("user", "Succeeded");
    expect(node.lines(pod)).toEqual(["b", "data", " 00 00 00", "/dev/zero"]);
    expect(plugin.calls).toEqual(["allocate b", "pre-start b"]);
    plugin.set({ a: "Healthy", b: "Unhealthy", c: "Unhealthy" });
    await expectReport("1/3");
  });

  it("two pods compete for one device", async () => {
    plugin = new TestPlugin({ only: "Healthy" });
    await plugin.register();
    await expectReport("1/1");
    await node.createPod("first", wanting(1));
    await node.podInPhase("first", "Running");
    // Bound to the node by hand, past the scheduler, which would have kept it waiting.
    await node.createPod("second", wanting(1));
    const refused = await node.podInPhase("second", "Failed");
    expect(refused.status).toMatchObject({
      reason: "UnexpectedAdmissionError",
      message: expect.stringContaining(`unavailable for ${resource}. Requested: 1, Available: 0`),
    });
    await node.client.delete(pods, "first", "default");
    await vi.waitUntil(
      () =>
        node.pod("first").then(
          () => false,
          () => true,
        ),
      10_000,
    );
    await node.createPod("third", wanting(1));
    await node.podInPhase("third", "Running");
  });

  it("are given again to a restarted container, and remembered by a new kubelet", async () => {
    plugin = new TestPlugin({ a: "Healthy", b: "Healthy" });
    await plugin.register();
    await expectReport("2/2");
    await node.createPod("user", wanting(1, "echo $WIDGET; exec sleep 1000"));
    const pod = await node.podInPhase("user", "Running");
    await node.stop();
    await plugin.stop();
    node.startNode();
    await expectReport("0/0");
    plugin = new TestPlugin({ a: "Healthy", b: "Healthy" });
    await plugin.register("again.sock");
    await expectReport("2/2");
    process.kill(node.initPid(pod), "SIGKILL");
    await node.podThat("user", ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
    await vi.waitUntil(() => node.log(pod, "main", 1).includes(" b"), 5000);
    expect(plugin.calls).toEqual(["pre-start b"]);
    await node.createPod("other", wanting(1));
    await node.podInPhase("other", "Running");
    expect(plugin.calls).toEqual(["pre-start b", "allocate a", "pre-start a"]);
  });

  it("that end take their devices out of use until they come back", async () => {
    plugin = new TestPlugin({ a: "Healthy" });
    await plugin.register();
    await expectReport("1/1");
    await plugin.stop();
    await expectReport("0/1");
    plugin = new TestPlugin({ a: "Healthy" });
    await plugin.register("second.sock");
    await expectReport("1/1");
  });

  it.each([
    ["another version", { version: "v1alpha1" }, /speaks v1beta1/],
    ["a name of Kubernetes' own", { name: "kubernetes.io/cpu" }, /no name for an extended resource/],
    ["a name without a domain", { name: "widget" }, /no name for an extended resource/],
    ["a socket elsewhere", { endpoint: "../../../etc/x.sock" }, /ENOENT|must not contain/],
    ["a socket that is not there", { endpoint: "none.sock", listen: false }, /no such file/],
  ])(
    "are refused with %s",
    async (_name, { version, name, endpoint }: { version?: string; name?: string; endpoint?: string }, message) => {
      plugin = new TestPlugin({ a: "Healthy" });
      await vi.waitUntil(() => fs.existsSync(path.join(directory(), "kubelet.sock")), 5000);
      const client = createGrpcClient(devicePluginV1beta1.Registration, `unix:${directory()}/kubelet.sock`);
      const request = { version: version ?? "v1beta1", endpoint: endpoint ?? "x.sock", resourceName: name ?? resource };
      await expect(client.register(request)).rejects.toThrow(message);
      client.close();
    },
  );

  it("mount nothing outside of a container that has put a symlink in the way", async () => {
    const victim = path.join(node.base, "victim");
    fs.mkdirSync(victim);
    plugin = new TestPlugin({ a: "Healthy" }, "/v/link/data");
    await plugin.register();
    await expectReport("1/1");
    const mounted = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
    const { containers } = wanting(1, "ls -d /v/link/data; exec sleep 1000");
    await node.createPod("trap", {
      volumes: [{ name: "v", emptyDir: {} }],
      initContainers: [shell(`ln -s ${victim} /v/link`, { ...mounted, name: "plant" })],
      containers: containers.map((container) => ({ ...container, ...mounted })),
    });
    await node.podInPhase("trap", "Running");
    expect(fs.readdirSync(victim)).toEqual([]);
    expect(fs.readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(victim);
  });

  it("cannot lead the kubelet to a socket elsewhere by a symlink", async () => {
    await vi.waitUntil(() => fs.existsSync(path.join(directory(), "kubelet.sock")), 5000);
    fs.symlinkSync("/run/some-host.sock", path.join(directory(), "link.sock"));
    const client = createGrpcClient(devicePluginV1beta1.Registration, `unix:${directory()}/kubelet.sock`);
    const request = { version: "v1beta1", endpoint: "link.sock", resourceName: resource };
    await expect(client.register(request)).rejects.toThrow("found a symlink");
    client.close();
    expect((await node.client.list(events)).items).toEqual([]);
  });
});
