import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { guestManifest, type Vmi } from "./guest.ts";
import { isCluster, isHandler, isQemu, launcherOf, qemuOf } from "./who.ts";

describe("kill -9 of any one process", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo");
    await cluster.apply(guestManifest("bystander"));
    await running("bystander");
  });
  afterAll(() => cluster.destroy());

  const vmi = (name: string) => cluster.json<Vmi>("get", "vmi", name);
  const running = (name: string) =>
    eventually(
      () => vmi(name),
      (seen) => seen.status?.phase === "Running",
    );
  const kill = async (pattern: RegExp) => process.kill((await cluster.process(pattern)).pid, "SIGKILL");

  let bystanderPid: number;
  beforeEach(async () => {
    bystanderPid = (await cluster.process(qemuOf("bystander"))).pid;
  });
  const expectBystander = async () => {
    expect((await cluster.process(qemuOf("bystander"))).pid).toBe(bystanderPid);
    expect((await vmi("bystander")).status?.phase).toBe("Running");
  };

  it("QEMU: the guest ends Failed with the reason, others go on", async () => {
    await cluster.apply(guestManifest("killed-qemu"));
    await running("killed-qemu");
    await kill(qemuOf("killed-qemu"));
    await eventually(
      () => vmi("killed-qemu"),
      (seen) => seen.status?.phase === "Failed",
    );
    const events = await cluster.kubectl("get", "events", "--field-selector", "involvedObject.name=killed-qemu");
    expect(events.stdout).toMatch(
      /Warning\s+Stopped\s.*The VirtualMachineInstance crashed: QEMU was killed by SIGKILL/,
    );
    await expectBystander();
    await cluster.kubectl("delete", "vmi", "killed-qemu", "--timeout=60s");
  });

  it("the launcher: the guest ends Failed with the reason and no QEMU is left", async () => {
    await cluster.apply(guestManifest("killed-launcher"));
    await running("killed-launcher");
    await kill(launcherOf("killed-launcher"));
    await eventually(
      () => vmi("killed-launcher"),
      (seen) => seen.status?.phase === "Failed",
    );
    await eventually(
      async () => (await cluster.processes()).filter((info) => qemuOf("killed-launcher").test(info.commandLine)),
      (left) => left.length === 0,
    );
    await expectBystander();
    await cluster.kubectl("delete", "vmi", "killed-launcher", "--timeout=60s");
  });

  it("virt-handler: it comes back, guests never noticed, and it still hears of them", async () => {
    await cluster.apply(guestManifest("killed-handler"));
    await running("killed-handler");
    const before = (await cluster.process(isHandler)).pid;
    await kill(isHandler);
    await eventually(
      async () =>
        (await cluster.processes()).filter((info) => isHandler.test(info.commandLine)).map((info) => info.pid),
      (pids) => pids.length === 1 && pids[0] !== before,
    );
    await expectBystander();
    await kill(qemuOf("killed-handler"));
    await eventually(
      () => vmi("killed-handler"),
      (seen) => seen.status?.phase === "Failed",
    );
    await cluster.kubectl("delete", "vmi", "killed-handler", "--timeout=60s");
  });

  it("the cluster: `up` brings it back with the same guests, and new ones start", async () => {
    await kill(isCluster);
    const down = await cluster.kubectl("get", "vmi", "--request-timeout=3s");
    expect(down.code).not.toBe(0);
    await cluster.up();
    await expectBystander();
    await cluster.apply(guestManifest("later"));
    await running("later");
    await cluster.kubectl("delete", "vmi", "later", "--timeout=60s");
  });

  it("the cluster, with a guest that dies meanwhile: Failed after the restart", async () => {
    await cluster.apply(guestManifest("killed-meanwhile"));
    await running("killed-meanwhile");
    await kill(isCluster);
    await kill(qemuOf("killed-meanwhile"));
    await cluster.up();
    await eventually(
      () => vmi("killed-meanwhile"),
      (seen) => seen.status?.phase === "Failed",
    );
    await expectBystander();
  });

  it("nothing is left after `down`", async () => {
    await cluster.polyvirt("down");
    expect((await cluster.processes()).filter((info) => isQemu.test(info.commandLine))).toEqual([]);
    expect(await cluster.processes()).toEqual([]);
  });
});
