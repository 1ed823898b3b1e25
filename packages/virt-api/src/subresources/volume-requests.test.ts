import type { VirtualMachineInstance } from "@polyvirt/api";
import { KubeStatusError, type PatchRequest } from "@polyvirt/kube";
import { describe, expect, it } from "vitest";
import { changeVolumes, planVolumeChange } from "./volume-requests.ts";

const vmi: VirtualMachineInstance = {
  metadata: { name: "vmi", namespace: "default" },
  spec: {
    domain: {
      devices: {
        disks: [
          { name: "root", disk: { bus: "virtio" } },
          { name: "data", disk: { bus: "scsi" } },
        ],
      },
    },
    volumes: [
      { name: "root", containerDisk: { image: "x" } },
      { name: "data", persistentVolumeClaim: { claimName: "data", hotpluggable: true } },
    ],
  },
  status: { phase: "Running" },
};
const added = { name: "more", disk: {}, volumeSource: { persistentVolumeClaim: { claimName: "more" } } };

describe("planVolumeChange", () => {
  it("adds a volume that may be removed again, with a disk of its name", () => {
    const { volumes, disks } = planVolumeChange("addvolume", vmi, added);
    expect(volumes.at(-1)).toEqual({
      name: "more",
      persistentVolumeClaim: { claimName: "more", hotpluggable: true },
    });
    expect(disks.at(-1)).toEqual({ name: "more", disk: { bus: "scsi" } });
    const data = {
      ...added,
      disk: { disk: { bus: "virtio" }, serial: "7" },
      volumeSource: { dataVolume: { name: "dv" } },
    };
    const other = planVolumeChange("addvolume", vmi, data);
    expect(other.volumes.at(-1)).toEqual({ name: "more", dataVolume: { name: "dv", hotpluggable: true } });
    expect(other.disks.at(-1)).toEqual({ name: "more", disk: { bus: "virtio" }, serial: "7" });
  });

  it("removes a volume with its disk", () => {
    const { volumes, disks } = planVolumeChange("removevolume", vmi, { name: "data" });
    expect([...volumes, ...disks].map(({ name }) => name)).toEqual(["root", "root"]);
  });

  it.each([
    ["addvolume", undefined, 400, "Request with no body"],
    ["addvolume", [], 400, "AddVolumeOptions requires name to be set"],
    ["addvolume", { name: "x" }, 400, "AddVolumeOptions requires disk to not be nil"],
    ["addvolume", { name: "x", disk: {} }, 400, "AddVolumeOptions requires VolumeSource to not be nil"],
    ["addvolume", { name: "x", disk: {}, volumeSource: {} }, 400, "dataVolume or persistentVolumeClaim"],
    ["addvolume", { ...added, name: "data" }, 409, "Unable to add volume [data] because volume with that name"],
    [
      "addvolume",
      { ...added, volumeSource: { persistentVolumeClaim: { claimName: "data" } } },
      409,
      "Unable to add volume source [data] because it already exists",
    ],
    ["removevolume", {}, 400, "RemoveVolumeOptions requires name to be set"],
    ["removevolume", { name: "x" }, 409, "Unable to remove volume [x] because it does not exist"],
    ["removevolume", { name: "root" }, 409, "Unable to remove volume [root] because it is not hotpluggable"],
  ])("refuses %s with %j", (name, options, code, message) => {
    expect(() => planVolumeChange(name, vmi, options)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), status: expect.objectContaining({ code }) }),
    );
  });

  it("is for guests that run", () => {
    expect(() => planVolumeChange("addvolume", { ...vmi, status: {} }, added)).toThrow("VMI is not running");
  });
});

describe("changeVolumes", () => {
  it("insists on the volumes that it has seen, and only asks in a dry run", async () => {
    const patches: PatchRequest[] = [];
    const client = {
      patch: async (...[, , , patch]: [unknown, unknown, unknown, PatchRequest]) => void patches.push(patch),
    };
    // Nothing of the answer is used.
    await changeVolumes(client as never, "removevolume", vmi, { name: "data", dryRun: ["All"] });
    expect(patches).toMatchObject([
      {
        type: "json",
        dryRun: true,
        body: [
          { op: "test", path: "/spec/volumes", value: vmi.spec.volumes },
          { op: "replace", path: "/spec/volumes", value: vmi.spec.volumes?.slice(0, 1) },
          { op: "test", path: "/spec/domain/devices/disks" },
          { op: "replace", path: "/spec/domain/devices/disks" },
        ],
      },
    ]);
  });

  it("passes on what admission says", async () => {
    const status = {
      apiVersion: "v1",
      kind: "Status",
      status: "Failure",
      reason: "Invalid",
      message: "no",
      code: 422,
    } as const;
    const client = {
      patch: () => Promise.reject(new KubeStatusError("KubeInvalid", "patch", { status, httpStatus: 422 })),
    };
    await expect(changeVolumes(client, "addvolume", vmi, added)).rejects.toMatchObject({
      status: { code: 422, message: "no" },
    });
  });
});
