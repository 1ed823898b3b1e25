import { describe, expect, it } from "vitest";
import { readFilesystemList, readGuestAgentInfo, readUserList } from "./guest-documents.ts";

const filesystem = {
  diskName: "vda1",
  mountPoint: "/",
  fileSystemType: "ext4",
  usedBytes: 1,
  totalBytes: 2,
  disk: [{ busType: "virtio", serial: "SER-1" }],
};

describe("what a guest tells of itself", () => {
  it("becomes API objects", () => {
    const info = {
      guestAgentVersion: "7.2.19",
      supportedCommands: [{ name: "guest-ping", enabled: true }],
      hostname: "web",
      os: { id: "debian" },
      timezone: "CET, 3600",
      userList: [{ userName: "ann", domain: "", loginTime: 1.5 }],
      fsInfo: { disks: [filesystem] },
      fsFreezeStatus: "frozen",
    };
    expect(readGuestAgentInfo(JSON.stringify(info))).toEqual({
      ...info,
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachineInstanceGuestAgentInfo",
      os: expect.objectContaining({ id: "debian", name: "" }),
      userList: [{ userName: "ann", loginTime: 1.5 }],
    });
    expect(readUserList('[{"userName":"ann","loginTime":1.5}]')).toEqual({
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachineInstanceGuestOSUserList",
      metadata: {},
      items: [{ userName: "ann", loginTime: 1.5 }],
    });
    expect(readFilesystemList(JSON.stringify([filesystem]))).toEqual({
      apiVersion: "kubevirt.io/v1",
      kind: "VirtualMachineInstanceFileSystemList",
      metadata: {},
      items: [filesystem],
    });
  });

  it.each(["", "{", "null", "7", '"x"', "[1,null,[]]", '{"userList":7,"fsInfo":[],"os":[],"supportedCommands":{}}'])(
    "may be %j without harm",
    (json) => {
      expect(readUserList(json)).toMatchObject({ items: [] });
      expect(readFilesystemList(json)).toMatchObject({ items: [] });
      expect(readGuestAgentInfo(json)).toEqual({
        apiVersion: "kubevirt.io/v1",
        kind: "VirtualMachineInstanceGuestAgentInfo",
        guestAgentVersion: "",
        supportedCommands: [],
        os: {},
        userList: [],
        fsInfo: { disks: [] },
      });
    },
  );

  it("is cut to size, printable, and of the right types", () => {
    const lies = { userName: "\u001b[2Jroot", domain: {}, loginTime: "now" };
    expect(readUserList(JSON.stringify([lies, { userName: 7 }, { userName: "" }]))).toMatchObject({
      items: [{ userName: "[2Jroot" }],
    });
    const users = Array.from({ length: 500 }, () => ({ userName: "x".repeat(300) }));
    const { items } = readUserList(JSON.stringify(users)) as { items: { userName: string }[] };
    expect(items).toHaveLength(64);
    expect(items[0]?.userName).toHaveLength(256);
    const sizes = { mountPoint: "/", usedBytes: -1, totalBytes: 1.5, disk: "sda" };
    expect(readFilesystemList(JSON.stringify([sizes]))).toMatchObject({
      items: [{ diskName: "", mountPoint: "/", fileSystemType: "", usedBytes: 0, totalBytes: 0 }],
    });
    expect(readUserList(JSON.stringify([{ userName: "x".repeat(300_000) }]))).toMatchObject({ items: [] });
  });
});
