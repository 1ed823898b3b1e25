import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";

interface Vmi {
  status?: {
    phase?: string;
    reason?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
}

interface EventList {
  items: { type: string; reason: string; message: string }[];
}

/** The guest of the proposal, with an image that is there and as much memory as a test may take. */
const manifest = (name: string, architecture: string): string => `
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: { name: ${name} }
spec:
  architecture: ${architecture}
  terminationGracePeriodSeconds: 0
  domain:
    devices: { disks: [{ name: containerdisk, disk: { bus: virtio } }] }
    resources: { requests: { memory: 256Mi } }
  volumes: [{ name: containerdisk, containerDisk: { image: "polyvirt.local/demo-disk:1" } }]
`;

describe("guests of other architectures", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo");
  });
  afterAll(() => cluster.destroy());

  async function configure(featureGates: readonly string[], useEmulation: boolean): Promise<void> {
    const developerConfiguration = { featureGates, useEmulation };
    const patch = JSON.stringify({ spec: { configuration: { developerConfiguration } } });
    await cluster.kubectl("-n", "kubevirt", "patch", "kubevirt", "kubevirt", "--type=merge", `-p=${patch}`);
  }

  /** Applies the guest and waits until it runs or has failed; then it is taken away. */
  async function fateOf(name: string, architecture: string) {
    const applied = await cluster.apply(manifest(name, architecture));
    expect(applied.stderr).toBe("");
    const { status = {} } = await eventually(
      () => cluster.json<Vmi>("get", "vmi", name),
      (seen) => ["Running", "Failed"].includes(seen.status?.phase ?? ""),
      120_000,
    );
    const { items } = await eventually(
      () => cluster.json<EventList>("get", "events", `--field-selector=involvedObject.name=${name}`),
      (seen) => status.phase === "Running" || seen.items.some(({ type }) => type === "Warning"),
    );
    await cluster.kubectl("delete", "vmi", name, "--timeout=60s");
    return { ...status, warnings: items.filter(({ type }) => type === "Warning").map(({ message }) => message) };
  }

  const gate = "MultiArchitectureSoftwareEmulation";

  /** The table of the proposal, row by row. */
  it("gate off, emulation on: the same architecture is emulated", async () => {
    await configure([], true);
    const { phase, conditions } = await fateOf("same", "amd64");
    expect(phase).toBe("Running");
    expect(conditions?.find(({ type }) => type === "SoftwareEmulation")).toMatchObject({
      status: "True",
      message: "VM running with software emulation (host=amd64, guest=amd64)",
    });
    expect(conditions?.find(({ type }) => type === "Emulated")).toBeUndefined();
  });

  it.each([
    {
      row: "gate off, emulation on",
      gates: [],
      emulation: true,
      message:
        "Cross-architecture emulation not enabled. Enable MultiArchitectureSoftwareEmulation feature gate and useEmulation configuration.",
    },
    {
      row: "gate on, emulation off",
      gates: [gate],
      emulation: false,
      message: "kvm not present or cross-arch requested, but emulation not allowed",
    },
  ])("$row: another architecture fails, and says why", async ({ gates, emulation, message }) => {
    await configure(gates, emulation);
    const { phase, conditions, warnings } = await fateOf(`refused-${gates.length}`, "arm64");
    expect(phase).toBe("Failed");
    expect(warnings).toEqual([message]);
    expect(conditions?.find(({ type }) => type === "Synchronized")).toMatchObject({ status: "False", message });
  });

  it.each([gate, "CrossArchitectureVirtualization"])("%s and emulation: it runs, emulated", async (name) => {
    await configure([name], true);
    const { phase, conditions, warnings } = await fateOf(name.toLowerCase().slice(0, 20), "arm64");
    expect(phase).toBe("Running");
    expect(warnings).toEqual([]);
    expect(conditions?.find(({ type }) => type === "Emulated")).toMatchObject({
      status: "True",
      reason: "CrossArchitectureEmulation",
      message: "VM running with software emulation (host=amd64, guest=arm64)",
    });
  });

  it("both, with an image that is not there for the guest: it waits and names image and architectures", async () => {
    await configure([gate], true);
    const image = "polyvirt.local/demo-guest-amd64:1";
    const foreign = manifest("foreign", "arm64").replace("polyvirt.local/demo-disk:1", image);
    expect((await cluster.apply(foreign)).stderr).toBe("");
    const { status } = await eventually(
      () => cluster.json<Vmi>("get", "vmi", "foreign"),
      (seen) => seen.status?.conditions?.some(({ reason }) => reason === "ErrImagePull") === true,
    );
    const said = `"${image}" for linux/arm64: it is there for linux/amd64`;
    expect(status?.conditions?.find(({ type }) => type === "Synchronized")?.message).toContain(said);
    const { items } = await eventually(
      () => cluster.json<EventList>("get", "events", "--field-selector=involvedObject.name=foreign"),
      (seen) => seen.items.some(({ type }) => type === "Warning"),
    );
    expect(items.find(({ type }) => type === "Warning")?.message).toContain(said);
    await cluster.kubectl("delete", "vmi", "foreign", "--timeout=60s");
  });

  it("both, on nodes without the emulator: it fails and names the program", async () => {
    await configure([gate], true);
    // As if it were not installed: whoever labels nodes by hand can say so.
    await cluster.kubectl("annotate", "node", "--all", "node-labeller.kubevirt.io/skip-node=");
    await cluster.kubectl("label", "node", "--all", "kubevirt.io/vm-arch-s390x-");
    const { phase, warnings } = await fateOf("unemulated", "s390x");
    expect(phase).toBe("Failed");
    expect(warnings).toEqual(["Required emulator binary /usr/bin/qemu-system-s390x not found on node"]);
  });
});
