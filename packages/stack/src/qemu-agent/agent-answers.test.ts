import { describe, expect, it } from "vitest";
import {
  readCommands,
  readExecStatus,
  readFilesystems,
  readHostname,
  readInterfaces,
  readOs,
  readTimezone,
  readUsers,
} from "./agent-answers.ts";

describe("answers of the guest agent", () => {
  it("are read", () => {
    expect(
      readCommands({
        supported_commands: [
          { name: "a", enabled: true },
          { name: "b", enabled: false },
        ],
      }),
    ).toEqual(["a"]);
    expect(readOs({ id: "debian", "pretty-name": "Debian 12", "kernel-release": "6.1" })).toEqual({
      id: "debian",
      prettyName: "Debian 12",
      kernelRelease: "6.1",
    });
    expect(readTimezone({ zone: "CET", offset: 3600 })).toBe("CET, 3600");
    expect(
      readInterfaces([
        { name: "eth0", "hardware-address": "52:54:00:00:00:01", "ip-addresses": [{ "ip-address": "10.0.2.15" }] },
      ]),
    ).toEqual([{ name: "eth0", macAddress: "52:54:00:00:00:01", ipAddresses: ["10.0.2.15"] }]);
    expect(readUsers([{ user: "root", "login-time": 1.5 }])).toEqual([{ name: "root", loginTimeSeconds: 1.5 }]);
    expect(
      readFilesystems([
        {
          name: "vda1",
          mountpoint: "/",
          type: "ext4",
          "used-bytes": 1,
          "total-bytes": 2,
          disk: [{ "bus-type": "virtio", serial: "SER-1" }, {}],
        },
      ]),
    ).toEqual([
      {
        diskName: "vda1",
        mountPoint: "/",
        type: "ext4",
        usedBytes: 1,
        totalBytes: 2,
        disks: [{ busType: "virtio", serial: "SER-1" }, { busType: "unknown" }],
      },
    ]);
    expect(readExecStatus({ exited: true, exitcode: 3, "out-data": "aGk=" })).toEqual({
      exited: true,
      exitCode: 3,
      stdout: "hi",
    });
    expect(readExecStatus({ exited: true, signal: 9 }).exitCode).toBe(137);
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["a number", 7],
    ["a list of numbers", [1, 2]],
    ["wrong types everywhere", [{ name: 7, mountpoint: {}, user: [], "ip-addresses": "x" }]],
  ])("may be %s without harm", (_name, answer) => {
    expect(readInterfaces(answer)).toEqual([]);
    expect(readUsers(answer)).toEqual([]);
    expect(readFilesystems(answer)).toEqual([]);
    expect(readOs(answer)).toEqual({});
    expect(readCommands(answer)).toEqual([]);
  });

  it("are cut to size and freed of control characters", () => {
    expect(readHostname({ "host-name": `a\u001b[31m${"x".repeat(1000)}` })).toHaveLength(256);
    expect(readHostname({ "host-name": "a\u001b\n" })).toBe("a  ");
    const many = Array.from({ length: 1000 }, (_, index) => ({ name: `eth${index}`, "ip-addresses": [] }));
    expect(readInterfaces(many)).toHaveLength(64);
    const [filesystem] = readFilesystems([{ mountpoint: "/", disk: Array.from({ length: 1000 }, () => ({})) }]);
    expect(filesystem?.disks).toHaveLength(8);
  });

  it.each([-1, 1.5, 2 ** 60, "7", null])("count no bytes by %j", (value) => {
    const [filesystem] = readFilesystems([{ mountpoint: "/", "used-bytes": value, "total-bytes": value }]);
    expect(filesystem).toMatchObject({ usedBytes: 0, totalBytes: 0 });
  });
});
