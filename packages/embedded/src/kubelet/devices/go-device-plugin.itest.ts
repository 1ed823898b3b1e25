import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster } from "../../testing/test-cluster.ts";

const resource = "example.com/go-device";
const source = fileURLToPath(new URL("../../../testdata/go-device-plugin", import.meta.url));
const hasGo = spawnSync("go", ["version"]).status === 0;
/** The first build fetches Kubernetes' modules from the module proxy. */
const buildMs = 300_000;

describe.skipIf(!hasGo)("a device plug-in in Go with Kubernetes' own stubs", () => {
  let cluster: TestCluster;
  let program: string;
  let plugin: ChildProcess;
  let said = "";

  beforeAll(async () => {
    cluster = new TestCluster(1);
    program = path.join(cluster.data, "go-device-plugin");
    const built = spawnSync("go", ["build", "-o", program, "."], { cwd: source, encoding: "utf8" });
    if (built.status !== 0) throw new Error(built.stderr);
    await cluster.start();
  }, buildMs);
  afterAll(async () => {
    plugin?.kill();
    await cluster.dispose();
  });

  const directory = (): string => path.join(cluster.data, "nodes/node-1/kubelet/device-plugins");
  const jsonPath = (kind: string, name: string, text: string): Promise<string> =>
    cluster.kubectl("get", kind, name, "-o", `jsonpath=${text}`);
  const phase = (name: string): Promise<string> => jsonPath("pod", name, "{.status.phase}");

  /** Changes with every kubelet; a plug-in has to watch for that, too. */
  const kubeletSocket = (): number | undefined =>
    fs.statSync(path.join(directory(), "kubelet.sock"), { throwIfNoEntry: false })?.mtimeMs;

  async function startPlugin(earlierSocket?: number): Promise<void> {
    await cluster.waitFor("the kubelet's socket", async () => ![undefined, earlierSocket].includes(kubeletSocket()));
    said = "";
    plugin = spawn(program, [directory(), resource, "one", "two"], { stdio: ["pipe", "pipe", "inherit"] });
    plugin.stdout?.on("data", (data: Buffer) => (said += data.toString()));
    await cluster.waitFor("a registration", async () => said.startsWith("registered\n"));
  }

  async function expectReport(expected: string): Promise<void> {
    const escaped = resource.replaceAll(".", "\\.");
    const both = `{.status.allocatable['${escaped}']}/{.status.capacity['${escaped}']}`;
    await cluster.waitFor(expected, async () => (await jsonPath("node", "node-1", both)) === expected);
  }

  async function createPod(name: string): Promise<void> {
    const script = "echo $GO_DEVICES; ls /dev/go-device; cat /go-device-data; exec sleep 1000";
    await cluster.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default" },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          { name: "main", image: "test/shell:1", args: [script], resources: { limits: { [resource]: "1" } } },
        ],
      },
    });
  }

  async function runs(name: string, device: string): Promise<void> {
    await cluster.kubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=20s");
    await cluster.waitFor("its output", async () => (await cluster.kubectl("logs", name)).split("\n").length === 4);
    expect((await cluster.kubectl("logs", name)).split("\n").slice(0, 3)).toEqual([
      device,
      "/dev/go-device",
      fs.readFileSync("/etc/hostname", "utf8").trim(),
    ]);
  }

  const waitsFor = (name: string): Promise<void> =>
    cluster.waitFor("the reason why it waits", async () =>
      (await cluster.kubectl("describe", "pod", name)).includes(
        `0/1 nodes are available: 1 Insufficient ${resource}. preemption:`,
      ),
    );

  it("registers and gives the devices that it prefers, with everything that it says about them", async () => {
    await startPlugin();
    await expectReport("2/2");
    await createPod("first");
    await runs("first", "two");
    expect(said).toContain("pre-start two\n");
    const uid = await jsonPath("pod", "first", "{.metadata.uid}");
    const run = path.join(cluster.data, "nodes/node-1/runtime", uid, "containers/main/0/annotations.json");
    expect(JSON.parse(fs.readFileSync(run, "utf8"))).toEqual({ "example.com/devices": "two" });
  });

  it("lets pods compete for what is left", async () => {
    await createPod("second");
    await runs("second", "one");
    await createPod("third");
    await waitsFor("third");
    expect(await phase("third")).toBe("Pending");
    await cluster.kubectl("delete", "pod", "first", "--now");
    await runs("third", "two");
  });

  it("tells which devices are unhealthy", async () => {
    plugin.stdin?.write("two\n");
    await expectReport("1/2");
    plugin.stdin?.write("one two\n");
    await expectReport("2/2");
  });

  it("registers again after a restart, with its devices still given away", async () => {
    plugin.kill();
    await expectReport("0/2");
    await startPlugin();
    await expectReport("2/2");
    await createPod("fourth");
    await waitsFor("fourth");
    expect(await phase("second")).toBe("Running");
  });

  it("finds its devices given away to the same pods after kill -9 of the cluster", async () => {
    const earlier = kubeletSocket();
    await cluster.kill();
    plugin.kill();
    await cluster.start();
    await startPlugin(earlier);
    await expectReport("2/2");
    expect(await phase("fourth")).toBe("Pending");
    await cluster.kubectl("delete", "pod", "second", "--now");
    await runs("fourth", "one");
    await runs("third", "two");
  });
});
