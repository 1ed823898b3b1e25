import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { guestManifest, type Vmi } from "./guest.ts";

describe("what cannot work is refused, or says why it waits", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo");
  });
  afterAll(() => cluster.destroy());

  it("an unknown field is named", async () => {
    const result = await cluster.apply(guestManifest("typo", { extra: "  hostnaem: oops\n" }));
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain('unknown field "spec.hostnaem"');
  });

  it("a disk without a volume is named, with its field", async () => {
    const manifest = guestManifest("diskless").replace("volumes: [{ name: words", "volumes: [{ name: other");
    const result = await cluster.apply(manifest);
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain("spec.domain.devices.disks[0].name 'words' not found.");
  });

  it("every cause is told, not only the first", async () => {
    const manifest = guestManifest("twice", { diskBus: "ide" }).replace(
      "volumes: [{ name: words",
      "volumes: [{ name: other",
    );
    const result = await cluster.apply(manifest);
    expect(result.stderr).toContain("IDE bus is not supported");
    expect(result.stderr).toContain("spec.domain.devices.disks[0].name 'words' not found.");
  });

  it("a kind that is not served yet is refused, not ignored", async () => {
    const result = await cluster.apply(`
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceMigration
metadata: { name: move }
spec: { vmiName: hello }
`);
    expect(result.code).not.toBe(0);
    expect(result.stderr).toMatch(/not served by this version/);
  });

  it.skipIf(existsSync("/dev/vhost-vsock"))("a guest whose device no node has says which it is", async () => {
    const gates = { featureGates: ["VSOCK"] };
    const patch = JSON.stringify({ spec: { configuration: { developerConfiguration: gates } } });
    await cluster.kubectl("patch", "kubevirt", "kubevirt", "-n", "kubevirt", "--type=merge", "-p", patch);
    const manifest = guestManifest("socketless").replace("devices:", "devices:\n      autoattachVSOCK: true");
    // virt-api hears of the gate a moment later.
    await eventually(
      () => cluster.apply(manifest),
      ({ code }) => code === 0,
    );
    const { status } = await eventually(
      () => cluster.json<Vmi>("get", "vmi", "socketless"),
      (seen) => seen.status?.conditions?.some(({ reason }) => reason === "Unschedulable") === true,
    );
    expect(status?.conditions?.find(({ type }) => type === "PodScheduled")?.message).toContain(
      "Insufficient devices.kubevirt.io/vhost-vsock",
    );
    await cluster.kubectl("delete", "vmi", "socketless", "--timeout=60s");
  });

  it("an unknown image shows in the condition and the events of the guest", async () => {
    await cluster.apply(guestManifest("imageless", { kernelImage: "polyvirt.local/nowhere:1" }));
    const vmi = await eventually(
      () => cluster.json<Vmi>("get", "vmi", "imageless"),
      (seen) =>
        seen.status?.conditions?.some((condition) => /ErrImagePull|ImagePullBackOff/.test(condition.reason ?? "")) ===
        true,
    );
    const condition = vmi.status?.conditions?.find((item) => /ErrImagePull|ImagePullBackOff/.test(item.reason ?? ""));
    expect(condition?.message).toContain("polyvirt.local/nowhere:1");
    await cluster.kubectl("delete", "vmi", "imageless", "--timeout=60s");
  });

  it("too much memory leaves it unscheduled, in the scheduler's words", async () => {
    await cluster.apply(guestManifest("huge", { memory: "100Ti" }));
    const vmi = await eventually(
      () => cluster.json<Vmi>("get", "vmi", "huge"),
      (seen) => seen.status?.conditions?.some((condition) => condition.type === "PodScheduled") === true,
    );
    const condition = vmi.status?.conditions?.find((item) => item.type === "PodScheduled");
    expect(condition).toMatchObject({ status: "False", reason: "Unschedulable" });
    expect(condition?.message).toMatch(/0\/1 nodes are available: 1 Insufficient memory/);
    await cluster.kubectl("delete", "vmi", "huge", "--timeout=60s");
  });
});
