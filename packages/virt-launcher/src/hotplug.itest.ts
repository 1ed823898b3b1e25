import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import type { VirtualMachineInstance, VolumeStatus } from "@polyvirt/api";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeHandler } from "./testing/fake-handler.ts";
import { buildLauncher, TestPod, type LauncherProcess } from "./testing/launcher-process.ts";

const launchers = [
  { role: "virt-launcher-qemu", installed: true, unplugging: /it was there when the machine started/ },
  {
    role: "virt-launcher-libvirt",
    installed: existsSync("/usr/sbin/libvirtd") || existsSync("/usr/sbin/virtqemud"),
    unplugging: /^asked the guest$/,
  },
];
const mebibyte = 1024 ** 2;
const limit = { timeout: 20_000, interval: 20 };

describe.each(launchers)("disks that come and go, in $role", ({ role, installed, unplugging }) => {
  let bundle: string;
  let pod: TestPod;
  let handler: FakeHandler;
  let launcher: LauncherProcess | undefined;

  beforeAll(async () => {
    bundle = await buildLauncher(role);
  });
  beforeEach(async ({ skip }) => {
    skip(!installed, "no libvirt daemon is installed (package libvirt-daemon)");
    pod = await TestPod.make();
    await mkdir(pod.path("public", "hotplug-disks"));
    handler = new FakeHandler(pod.commandSocket);
  });
  afterEach(async () => {
    launcher?.child.kill("SIGKILL");
    await launcher?.exited;
    launcher = undefined;
    await handler.close();
    await pod.dispose();
  });

  /** The VMI with these hotplugged volumes; the node agent has got this far with each. */
  function withVolumes(phases: Readonly<Record<string, string>>, bus = "scsi"): VirtualMachineInstance {
    const names = Object.keys(phases);
    const { domain, volumes = [] } = pod.vmi.spec;
    const { disks = [] } = domain.devices;
    const devices = { ...domain.devices, disks: [...disks, ...names.map((name) => ({ name, disk: { bus } }))] };
    const added = names.map((name) => ({ name, persistentVolumeClaim: { claimName: name, hotpluggable: true } }));
    const volumeStatus = Object.entries(phases).map(([name, phase]): VolumeStatus => ({ name, target: "", phase }));
    return {
      ...pod.vmi,
      spec: { ...pod.vmi.spec, domain: { ...domain, devices }, volumes: [...volumes, ...added] },
      status: { volumeStatus },
    };
  }
  const sync = (vmi: VirtualMachineInstance) =>
    handler.cmd.syncVirtualMachine({ vmi: { vmiJson: Buffer.from(JSON.stringify(vmi)) } });
  const start = async (vmi: VirtualMachineInstance): Promise<void> => {
    await handler.listen(pod.notifySocket);
    launcher = pod.start(bundle);
    await expect.poll(() => existsSync(pod.commandSocket), limit).toBe(true);
    await sync(vmi);
  };
  const image = async (name: string): Promise<void> =>
    writeFile(pod.path("public", "hotplug-disks", `${name}.img`), Buffer.alloc(mebibyte));
  /** What the node agent was told last. */
  const told = (): string[] => {
    const definition = handler.notifications.at(-1)?.domain.definition;
    // The launcher's own definition of its machine.
    const { devices } = definition as { devices: { disks: { alias: { name: string }; target: { dev: string } }[] } };
    return devices.disks.map(({ alias, target }) => `${alias.name} ${target.dev}`);
  };

  it("attaches a disk when its volume is there, once, and detaches it when the volume is gone", async () => {
    await start(pod.vmi);
    await image("data");
    await sync(withVolumes({ data: "AttachedToNode" }));
    await sync(withVolumes({ data: "MountedToPod" }));
    await expect.poll(told, limit).toEqual(["ua-root vda", "ua-data sda"]);
    await sync(withVolumes({ data: "Ready" }));
    await image("more");
    await sync(withVolumes({ data: "Ready", more: "MountedToPod" }));
    await expect.poll(told, limit).toEqual(["ua-root vda", "ua-data sda", "ua-more sdb"]);
    await sync(withVolumes({ more: "Ready" }));
    await expect.poll(told, limit).toEqual(["ua-root vda", "ua-more sdb"]);
    // The name is free again.
    await sync(withVolumes({ data: "MountedToPod", more: "Ready" }));
    await expect.poll(told, limit).toEqual(["ua-root vda", "ua-more sdb", "ua-data sda"]);
    expect(launcher?.output()).not.toContain("command failed");
  });

  it("may be asked by many at a time, again and again", async () => {
    await start(pod.vmi);
    await image("data");
    await image("more");
    for (const _round of [1, 2, 3, 4]) {
      await sync(withVolumes({ data: "MountedToPod", more: "MountedToPod" }));
      await expect.poll(told, limit).toHaveLength(3);
      const without = [withVolumes({ more: "Ready" }), withVolumes({ more: "Ready" }), pod.vmi, pod.vmi];
      await Promise.all(without.map(sync));
      await expect.poll(told, limit).toEqual(["ua-root vda"]);
      expect(launcher?.output()).not.toContain("command failed");
    }
  });

  it("attaches disks of their own to the bus as well", async () => {
    await start(pod.vmi);
    await image("data");
    await image("more");
    await sync(withVolumes({ data: "MountedToPod", more: "MountedToPod" }, "virtio"));
    await expect.poll(told, limit).toEqual(["ua-root vda", "ua-data vdb", "ua-more vdc"]);
  });

  it("starts with the volumes that are there, and detaches those as well", async () => {
    await image("data");
    await start(withVolumes({ data: "MountedToPod", late: "AttachedToNode" }));
    await expect.poll(told, limit).toEqual(["ua-root vda", "ua-data sda"]);
    await sync(pod.vmi);
    await expect.poll(told, limit).toEqual(["ua-root vda"]);
    await sync(withVolumes({ data: "MountedToPod" }, "virtio"));
    await expect.poll(told, limit).toEqual(["ua-root vda", "ua-data vdb"]);
  });

  it("pulls a network card's cable, and then the card", async () => {
    const withCard = (state: string): VirtualMachineInstance => {
      const { domain } = pod.vmi.spec;
      const devices = { ...domain.devices, interfaces: [{ name: "default", masquerade: {}, state }] };
      return {
        ...pod.vmi,
        spec: { ...pod.vmi.spec, networks: [{ name: "default", pod: {} }], domain: { ...domain, devices } },
      };
    };
    const cards = async () => {
      const { domain } = await handler.cmd.getDomain({});
      // The launcher's own definition of its machine.
      const { definition } = JSON.parse(domain) as { definition: { devices: { interfaces?: { link?: object }[] } } };
      return (definition.devices.interfaces ?? []).map(({ link }) => link ?? {});
    };
    await start(withCard("up"));
    expect(await cards()).toEqual([{}]);
    await sync(withCard("down"));
    expect(await cards()).toEqual([{ state: "down" }]);
    // A boot sector does not answer the request to let go, which may be repeated all the same.
    for (const _attempt of [1, 2]) {
      const answer = await sync(withCard("absent")).then(
        () => "asked the guest",
        (error: Error) => error.message,
      );
      expect(answer).toMatch(unplugging);
    }
  });

  it("refuses a disk that is a link, says so, and lets the guest go on", async () => {
    await start(pod.vmi);
    await writeFile(pod.path("secret"), "secret");
    await symlink(pod.path("secret"), pod.path("public", "hotplug-disks", "data.img"));
    await expect(sync(withVolumes({ data: "MountedToPod" }))).rejects.toThrow(/no regular file/);
    expect(await readFile(pod.path("secret"), "utf8")).toBe("secret");
    await sync(pod.vmi);
    expect(told()).toEqual(["ua-root vda"]);
  });
});
