import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually, repositoryRoot } from "./cluster.ts";
import { typeInConsole } from "./console.ts";
import type { Vmi } from "./guest.ts";

/** The whole way of one guest, in the order a user walks it; each step needs the one before. */
describe("one command, one kubectl apply, one guest that speaks", () => {
  let cluster: TestCluster;
  /** Version of the list of guests before the first one was made. */
  let before = "";
  const instances = "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances";
  beforeAll(async () => {
    cluster = await TestCluster.create();
  });
  afterAll(() => cluster.destroy());

  it("`polyvirt up` ends with a ready node and deployed roles", async () => {
    await cluster.up();
    const nodes = await cluster.kubectl("get", "nodes", "--no-headers");
    expect(nodes.stdout).toMatch(/^\S+\s+Ready\s/);
    const pods = await cluster.kubectl("get", "pods", "-n", "kubevirt", "--no-headers");
    const running = pods.stdout
      .trim()
      .split("\n")
      .filter((line) => /\s1\/1\s+Running\s/.test(line));
    const roles = running.map((line) => line.replace(/^(virt-[a-z]+)-.*/, "$1")).toSorted();
    expect(roles).toEqual(["virt-api", "virt-controller", "virt-handler", "virt-operator"]);
    const kubevirt = await cluster.kubectl(
      "get",
      "kubevirt",
      "-n",
      "kubevirt",
      "-o",
      "jsonpath={.items[0].status.phase}",
    );
    expect(kubevirt.stdout).toBe("Deployed");
  });

  it("`polyvirt image build-demo` makes the guest's images", async () => {
    const built = await cluster.polyvirt("image", "build-demo");
    expect(built.stderr + built.stdout).toContain("polyvirt.local/demo-guest-amd64:1");
    expect(built.code).toBe(0);
  });

  it("admission fills in defaults", async () => {
    const list = await cluster.kubectl("get", "--raw", instances);
    before = (JSON.parse(list.stdout) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
    const applied = await cluster.kubectl("apply", "-f", join(repositoryRoot, "examples/hello.yaml"));
    expect(applied.stdout).toBe("virtualmachineinstance.kubevirt.io/hello created\n");
    const machine = await cluster.kubectl(
      "get",
      "vmi",
      "hello",
      "-o",
      "jsonpath={.spec.domain.machine.type} {.spec.architecture}",
    );
    expect(machine.stdout).toBe("q35 amd64");
  });

  it("the guest gets to Running, and kubectl tells how", async () => {
    await eventually(
      () => cluster.json<Vmi>("get", "vmi", "hello"),
      (vmi) => vmi.status?.phase === "Running",
    );
    const table = await cluster.kubectl("get", "vmi");
    expect(table.stdout).toMatch(/NAME\s+AGE\s+PHASE/);
    const pods = await cluster.kubectl("get", "pods", "--no-headers");
    expect(pods.stdout).toMatch(/^virt-launcher-hello-\S+\s+1\/1\s+Running/);
    const events = await cluster.kubectl(
      "get",
      "events",
      "-o",
      "jsonpath={range .items[*]}{.involvedObject.kind}/{.reason} {end}",
    );
    const story = [
      "VirtualMachineInstance/SuccessfulCreate",
      "Pod/Scheduled",
      "Pod/Started",
      "VirtualMachineInstance/Started",
    ];
    for (const step of story) expect(events.stdout).toContain(step);
  });

  it("took no more than six writes", async () => {
    const query = `${instances}?watch=true&resourceVersion=${before}&timeoutSeconds=1`;
    const history = await cluster.kubectl("get", "--raw", query);
    const phases = history.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { object: Vmi }).object.status?.phase);
    const untilRunning = phases.indexOf("Running") + 1;
    expect(untilRunning).toBeGreaterThan(0);
    const launcherPod = 1;
    expect(untilRunning + launcherPod).toBeLessThanOrEqual(6);
  });

  it("its console greets, and answers what is typed", async () => {
    const text = await typeInConsole(cluster, "hello", { input: "echo $((6 * 7))-typed\n", until: /42-typed/ });
    expect(text).toContain("Polyvirt guest is ready.");
    expect(text).toContain("These words come from the guest's own disk.");
  });

  it("`kubectl delete` shuts it down gracefully and nothing of it is left", async () => {
    const { metadata } = await cluster.json<Vmi>("get", "vmi", "hello");
    const pod = await cluster.kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.uid}");
    const deleted = await cluster.kubectl("delete", "vmi", metadata.name, "--timeout=60s");
    expect(deleted.stdout).toContain('virtualmachineinstance.kubevirt.io "hello" deleted');
    await eventually(
      () => cluster.kubectl("get", "pods", "--no-headers"),
      (pods) => pods.stdout === "",
    );
    const events = await cluster.kubectl(
      "get",
      "events",
      "-o",
      "jsonpath={range .items[*]}{.reason}: {.message}{'\\n'}{end}",
    );
    expect(events.stdout).toContain("The VirtualMachineInstance was shut down.");
    const left = (await cluster.processes()).filter((info) => /qemu-system|virt-launcher\.js/.test(info.commandLine));
    expect(left).toEqual([]);
    const nodes = await readdir(join(cluster.dataDir, "nodes"));
    await eventually(
      async () => nodes.filter((node) => existsSync(join(cluster.dataDir, "nodes", node, "kubelet/pods", pod.stdout))),
      (folders) => folders.length === 0,
    );
  });

  it("`polyvirt down` leaves no process behind", async () => {
    const down = await cluster.polyvirt("down");
    expect(down.code).toBe(0);
    expect((await cluster.processes()).map((info) => info.commandLine)).toEqual([]);
    expect((await cluster.polyvirt("status")).code).toBe(3);
  });

  it("`up --demo` does all of it by itself", async () => {
    const demo = await cluster.up("--demo");
    expect(demo.stdout).toContain("Hello from hello: Linux");
    expect(demo.stdout).toContain("Polyvirt guest is ready.");
  });
});
