import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { podPaths, type LauncherPaths } from "../launcher-paths.ts";
import { FileGuard } from "./file-guard.ts";
import { prepareVolumes } from "./prepare-volumes.ts";
import type { Volume } from "./volume-request.ts";
import type { ImageMaker } from "./qemu-img.ts";

let root: string;
let paths: LauncherPaths;
let made: string[];

const images: ImageMaker = {
  async makeOverlay(path, { format, virtualBytes }) {
    made.push(`overlay ${format} ${virtualBytes}`);
    await writeFile(path, "overlay");
  },
  async makeEmpty(path, bytes) {
    made.push(`empty ${bytes}`);
    await writeFile(path, "empty");
  },
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "volumes-"));
  made = [];
  paths = Object.assign(
    { ...podPaths },
    Object.fromEntries(Object.keys(podPaths).map((key) => [key, join(root, key)])),
  );
});

afterEach(() => rm(root, { recursive: true }));

async function place(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

function prepare(...volumes: Volume[]) {
  const vmi: VirtualMachineInstance = {
    apiVersion: "kubevirt.io/v1",
    kind: "VirtualMachineInstance",
    metadata: { name: "vm", namespace: "ns", uid: "u" },
    spec: { domain: { devices: {} }, volumes },
    status: {
      volumeStatus: [{ name: "new", target: "", persistentVolumeClaimInfo: { capacity: { storage: "100Mi" } } }],
    },
  };
  return prepareVolumes(vmi, { paths, images, guard: new FileGuard() });
}

describe("prepareVolumes", () => {
  it("puts a layer over a container disk, once", async () => {
    await place("containerDisks/root/disk/a.img", "x".repeat(1000));
    const volume = { name: "root", containerDisk: { image: "i" } };
    const first = await prepare(volume);
    expect(first).toEqual(await prepare(volume));
    expect(made).toEqual(["overlay raw 1000"]);
    expect(first["root"]).toMatchObject({
      format: "qcow2",
      backing: { path: join(root, "containerDisks/root/disk/a.img"), format: "raw" },
    });
  });

  it("refuses a container disk with two files and no word which", async () => {
    await place("containerDisks/root/disk/a.img", "");
    await place("containerDisks/root/disk/b.img", "");
    await expect(prepare({ name: "root", containerDisk: { image: "i" } })).rejects.toMatchObject({
      code: "LauncherImageRefused",
      message: expect.stringContaining("a.img, b.img"),
    });
  });

  it.each(["../../../etc/passwd", "/disk/../../../etc/passwd", "link.img", "linked/secret", "disk"])(
    "takes %s of a container disk for nothing but a path inside the image",
    async (path) => {
      await place("secret", "not the image's");
      await place("containerDisks/root/disk/a.img", "");
      await symlink(join(root, "secret"), join(root, "containerDisks/root/link.img"));
      await symlink(root, join(root, "containerDisks/root/linked"));
      const refused = prepare({ name: "root", containerDisk: { image: "i", path } });
      await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^HostPath/) });
      expect(made).toEqual([]);
    },
  );

  it("makes an empty disk of the size that was asked for", async () => {
    await prepare({ name: "scratch", emptyDisk: { capacity: "1Gi" } });
    expect(made).toEqual([`empty ${1024 ** 3}`]);
  });

  it("takes a claim's image for raw, whatever it begins with", async () => {
    await place("private/vmi-disks/data/disk.img", "QFI\u00fb");
    expect(await prepare({ name: "data", persistentVolumeClaim: { claimName: "c" } })).toEqual({
      data: { kind: "file", path: join(root, "private/vmi-disks/data/disk.img"), format: "raw" },
    });
  });

  it("makes the image of a new claim, with room left for the file system, and only there", async () => {
    await mkdir(join(root, "private/vmi-disks/new"), { recursive: true });
    const claim = { claimName: "c" };
    const made = await prepare({ name: "new", persistentVolumeClaim: claim });
    expect((await stat(made["new"]?.path ?? "")).size).toBe(94 * 1024 ** 2);
    await rm(join(root, "private/vmi-disks/new/disk.img"));
    const ephemeral = prepare({ name: "new", ephemeral: { persistentVolumeClaim: claim } });
    await expect(ephemeral).rejects.toMatchObject({ code: "LauncherImageRefused" });
  });

  it("protects an ephemeral volume's claim with a layer", async () => {
    await place("private/vmi-disks/e/disk.img", "12345");
    const { e } = await prepare({ name: "e", ephemeral: { persistentVolumeClaim: { claimName: "c" } } });
    expect(made).toEqual(["overlay raw 5"]);
    expect(e?.backing?.path).toBe(join(root, "private/vmi-disks/e/disk.img"));
  });

  it.each([
    ["a claim", { persistentVolumeClaim: { claimName: "c" } }, "disk.img"],
    ["a host disk", { hostDisk: { path: "/data/x.img", type: "Disk" } }, "x.img"],
  ])("follows no link in %s", async (_name, source, file) => {
    await mkdir(join(root, "private/vmi-disks/d"), { recursive: true });
    await symlink("/etc/passwd", join(root, "private/vmi-disks/d", file));
    await expect(prepare({ name: "d", ...source })).rejects.toMatchObject({ code: "LauncherImageRefused" });
  });

  it("makes a host disk that may be made, and leaves its content alone afterwards", async () => {
    await mkdir(join(root, "private/vmi-disks/h"), { recursive: true });
    const volume = { name: "h", hostDisk: { path: "/data/x.img", type: "DiskOrCreate", capacity: "4096" } };
    const { h } = await prepare(volume);
    expect((await stat(h?.path ?? "")).size).toBe(4096);
    await writeFile(h?.path ?? "", "guest");
    await prepare(volume);
    expect(await readFile(h?.path ?? "", "utf8")).toBe("guest");
  });

  it("writes cloud-init data from the VMI", async () => {
    const { ci } = await prepare({ name: "ci", cloudInitNoCloud: { userDataBase64: "I2Nsb3VkLWNvbmZpZw==" } });
    const image = await readFile(ci?.path ?? "", "latin1");
    expect(image).toContain("#cloud-config");
    expect(image).toContain('"local-hostname":"vm"');
    expect(((await stat(ci?.path ?? "")).mode & 0o777).toString(8)).toBe("600");
  });

  it("writes cloud-init data from Secrets", async () => {
    await place("private/secret/ci/userdata/userData", "from-secret");
    await place("private/secret/ci/networkdata/networkdata", "net-secret");
    const { ci } = await prepare({ name: "ci", cloudInitConfigDrive: { secretRef: { name: "s" } } });
    const image = await readFile(ci?.path ?? "", "latin1");
    expect(image).toContain("from-secret");
    expect(image).toContain("net-secret");
    expect(image).toContain("config-2");
  });

  it("makes disks of what the kubelet mounted, through its links", async () => {
    await place("private/config-map/cm/..2026/key", "value");
    await symlink("..2026", join(root, "private/config-map/cm/..data"));
    await symlink("..data/key", join(root, "private/config-map/cm/key"));
    await place("serviceAccount/token", "the-token");
    await place("private/sysprep/answers/autounattend.xml", "the-answers");
    const { cm, sa, answers } = await prepare(
      { name: "cm", configMap: { name: "cm", volumeLabel: "mylabel" } },
      { name: "answers", sysprep: { configMap: { name: "a" } } },
      { name: "sa", serviceAccount: { serviceAccountName: "a" } },
    );
    const image = await readFile(cm?.path ?? "", "latin1");
    expect(image).toContain("value");
    expect(image).toContain("mylabel");
    expect(image).not.toContain("..2026");
    expect(await readFile(sa?.path ?? "", "latin1")).toContain("the-token");
    const sysprep = await readFile(answers?.path ?? "", "latin1");
    expect(sysprep).toContain("the-answers");
    expect(sysprep).toContain("unattendCD");
  });

  it("refuses what it does not know", async () => {
    await expect(prepare({ name: "m", memoryDump: { claimName: "c" } })).rejects.toMatchObject({
      code: "LauncherVolumeUnsupported",
      message: expect.stringContaining("spec.volumes[0].memoryDump"),
    });
  });
});
