import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { typeInConsole } from "./console.ts";
import { guestManifest, type Vmi } from "./guest.ts";
import { run, type RunResult } from "./run.ts";
import { chooseStack, stacks } from "./stacks.ts";
import { isHandler } from "./who.ts";

interface Volume {
  name: string;
  target: string;
  phase?: string;
  reason?: string;
}

type HotplugVmi = Vmi & { status?: { volumeStatus?: Volume[] } };

const claim = (name: string, mode = "Filesystem") => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name} }
spec: { accessModes: [ReadWriteOnce], volumeMode: ${mode}, resources: { requests: { storage: 64Mi } } }
`;
/** Of 64 MiB a file system needs a share; the kernel counts in sectors. */
const imageSectors = 60 * 2048;
const deviceSectors = 64 * 2048;

describe.each(stacks)("disks that come and go while the guest runs, on stack-%s", (stack) => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo");
    if (stack !== "qemu") await chooseStack(cluster, stack);
  });
  afterAll(() => cluster.destroy());

  /** As virtctl sends it. */
  function request(verb: "addvolume" | "removevolume", body: object): Promise<RunResult> {
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/live/${verb}`;
    const env = { KUBECONFIG: `${cluster.dataDir}/kubeconfig` };
    return run("kubectl", ["replace", "--raw", path, "-f", "-"], { env, input: JSON.stringify(body) });
  }
  const adding = (name: string, more: object = {}) => ({
    name,
    disk: { disk: { bus: "scsi" }, serial: name },
    volumeSource: { persistentVolumeClaim: { claimName: name } },
    ...more,
  });
  const volumeOf = async (name: string): Promise<Volume | undefined> => {
    const { status } = await cluster.json<HotplugVmi>("get", "vmi", "live");
    return status?.volumeStatus?.find((volume) => volume.name === name);
  };
  const attachmentPods = async (): Promise<string> => {
    const pods = await cluster.kubectl("get", "pods", "-l", "kubevirt.io=hotplug-disk", "--no-headers");
    return pods.stdout;
  };
  /** What the guest says about its disk: only its shell does the sum. */
  const guestSays = (input: string, until: RegExp) => typeInConsole(cluster, "live", { input: `${input}\n`, until });
  /** Waits until the guest has the disk; what hinders it is in the failure. */
  const whenReady = async (name: string): Promise<Volume | undefined> => {
    const look = async () => {
      const { status } = await cluster.json<HotplugVmi>("get", "vmi", "live");
      const hindrance = status?.conditions?.find(({ type }) => type === "Synchronized");
      return { volume: status?.volumeStatus?.find((volume) => volume.name === name), hindrance };
    };
    return (await eventually(look, ({ volume }) => volume?.phase === "Ready")).volume;
  };

  it("the guest sees a disk that is added, and writes to it", async () => {
    await cluster.apply(claim("data"));
    await cluster.apply(guestManifest("live"));
    await eventually(
      () => cluster.json<Vmi>("get", "vmi", "live"),
      (vmi) => vmi.status?.phase === "Running",
    );
    const dry = await request("addvolume", adding("data", { dryRun: ["All"] }));
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    expect(await volumeOf("data")).toBeUndefined();

    expect(await request("addvolume", adding("data"))).toMatchObject({ code: 0, stderr: "" });
    const added = await whenReady("data");
    expect(added).toMatchObject({ target: "sda", reason: "VolumeReady" });
    expect(await attachmentPods()).toMatch(/^hp-volume-\S+\s+1\/1\s+Running/);
    const size = `disk of $(($(cat /sys/block/sda/size) + 1)) sectors`;
    await guestSays(`echo "${size}"`, new RegExp(`disk of ${imageSectors + 1} sectors`));
    await guestSays("echo kept over $((6 * 7)) days >/dev/sda && sync && head -n 1 /dev/sda", /kept over 42 days/);
  });

  it("refuses what cannot be, in words", async () => {
    const words = await request("removevolume", { name: "words" });
    expect(words.stderr).toContain("Unable to remove volume [words] because it is not hotpluggable");
    const twice = await request("addvolume", adding("data"));
    expect(twice.stderr).toContain("Unable to add volume [data] because volume with that name already exists");
    const sata = await request("addvolume", adding("other", { disk: { disk: { bus: "sata" } } }));
    expect(sata.stderr).toContain(
      "hotplugged disk other requires bus to be 'scsi' or 'virtio'. [sata] is not permitted",
    );
    expect(await request("addvolume", adding("nowhere"))).toMatchObject({ code: 0 });
    await eventually(
      () => volumeOf("nowhere"),
      (volume) => volume?.phase === "Pending" && volume.reason === "FailedPvcNotFound",
    );
    expect(await request("removevolume", { name: "nowhere" })).toMatchObject({ code: 0 });
    await eventually(
      () => volumeOf("nowhere"),
      (volume) => volume === undefined,
    );
  });

  it("a claim that is a device comes as one, beside the other", async () => {
    await cluster.apply(claim("raw", "Block"));
    expect(await request("addvolume", adding("raw"))).toMatchObject({ code: 0 });
    const added = await whenReady("raw");
    expect(added?.target).toBe("sdb");
    const size = `device of $(($(cat /sys/block/sdb/size) + 1)) sectors`;
    await guestSays(`echo "${size}"`, new RegExp(`device of ${deviceSectors + 1} sectors`));
  });

  it("the disk goes, also after virt-handler was killed, and the guest runs on", async () => {
    const handler = await cluster.process(isHandler);
    process.kill(handler.pid, "SIGKILL");
    for (const name of ["data", "raw"]) expect(await request("removevolume", { name })).toMatchObject({ code: 0 });
    await eventually(
      async () => [await volumeOf("data"), await volumeOf("raw")],
      (volumes) => volumes.every((volume) => volume === undefined),
      90_000,
    );
    // It has done its work before the cluster knows that it is back, and only then consoles are opened.
    await eventually(
      () => cluster.kubectl("get", "pods", "-n", "kubevirt", "-l", "kubevirt.io=virt-handler", "--no-headers"),
      (pods) => /\s1\/1\s+Running/.test(pods.stdout),
    );
    await guestSays("[ -e /sys/block/sda ] || echo without disk for $((6 * 7)) s", /without disk for 42 s/);
    expect(await attachmentPods()).toBe("");
  });

  it("what the guest wrote is there when the disk comes again, and everything goes with the guest", async () => {
    expect(await request("addvolume", adding("data"))).toMatchObject({ code: 0 });
    await whenReady("data");
    await guestSays("head -n 1 /dev/sda", /kept over 42 days/);
    await cluster.kubectl("delete", "vmi", "live", "--timeout=60s");
    await eventually(
      () => cluster.kubectl("get", "pods", "--no-headers"),
      (pods) => pods.stdout === "",
    );
    const events = await cluster.kubectl("get", "events", "-o", "jsonpath={range .items[*]}{.reason} {end}");
    for (const reason of ["VolumeMountedToPod", "VolumeReady", "VolumeDetaching", "VolumeUnMountedFromPod"])
      expect(events.stdout.split(" ")).toContain(reason);
  });
});
