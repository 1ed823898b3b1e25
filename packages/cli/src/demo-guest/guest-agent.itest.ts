/** QEMU's real guest agent, in a demo guest, under the stack that runs QEMU itself. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger, systemClock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import type { GuestAgent, Stack } from "@polyvirt/stack";
import { createQemuStack } from "@polyvirt/stack-qemu";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildDataDisk, buildDemoGuest } from "./build-demo-guest.ts";
import { demoCacheDir } from "./demo-images.ts";

const bootLimitMs = 180_000;

describe("the guest agent of a demo guest", () => {
  let folder: string;
  let stack: Stack;
  let agent: GuestAgent;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "agent-"));
    const cache = demoCacheDir(process.env);
    const guest = await buildDemoGuest({ architecture: "amd64", agent: true }, cache, () => {});
    stack = createQemuStack({ clock: systemClock, logger: silentLogger, scratchDirectory: folder });
    if (stack.guestAgent === undefined) throw new Error("the stack has no guest agent");
    agent = stack.guestAgent;
    await stack.lifecycle.start(machine(folder, guest, await buildDataDisk(cache)));
    const deadline = systemClock.monotonic() + bootLimitMs;
    while (!(await agent.condition()).connected) {
      if (systemClock.monotonic() > deadline) throw new Error("the agent does not connect");
      await systemClock.sleep(500);
    }
  }, 600_000);

  afterAll(async () => {
    await stack.close();
    await rm(folder, { recursive: true });
  });

  it("is connected and offers every command that we need", async () => {
    await agent.ping(10_000);
    expect((await agent.info()).supportedCommands).toEqual(
      expect.arrayContaining(["guest-ping", "guest-exec", "guest-get-users", "guest-fsfreeze-freeze"]),
    );
    expect(await agent.condition()).toEqual({ connected: true, supported: true });
  });

  it("tells the system, its name and its addresses", async () => {
    const info = await agent.info();
    expect(info).toMatchObject({
      hostname: "agent",
      os: { id: "polyvirt-demo", prettyName: "Polyvirt demo guest", machine: "x86_64" },
      timezone: expect.any(String),
      filesystemsFrozen: false,
    });
    expect(info.os?.kernelRelease).toContain("cloud-amd64");
    expect(info.interfaces).toContainEqual(expect.objectContaining({ name: "eth0", macAddress: "52:54:00:12:34:56" }));
  });

  it("lists file systems with their use, and who is logged in", async () => {
    expect(await agent.filesystems()).toContainEqual(
      expect.objectContaining({ diskName: "vda", mountPoint: "/mnt/vda", type: "ext4" }),
    );
    expect(await agent.users()).toEqual([]);
  });

  it("runs a command and brings back its output and exit code", async () => {
    expect(await agent.exec("/bin/sh", ["-c", "echo $((6 * 7)); exit 3"], 30_000)).toEqual({
      exitCode: 3,
      stdout: "42\n",
    });
  });

  it("lets keys in, takes them away again, and sets passwords", async () => {
    const read = async (file: string) => (await agent.exec("/bin/cat", [file], 30_000)).stdout;
    await agent.addAuthorizedKeys("root", ["ssh-ed25519 AAAA one", "ssh-ed25519 BBBB two"]);
    await agent.addAuthorizedKeys("root", ["ssh-ed25519 AAAA one"]);
    await agent.removeAuthorizedKeys("root", ["ssh-ed25519 BBBB two", "ssh-ed25519 CCCC never there"]);
    expect(await read("/root/.ssh/authorized_keys")).toBe("ssh-ed25519 AAAA one");
    await expect(agent.addAuthorizedKeys("nobody-here", ["ssh-ed25519 AAAA one"])).rejects.toThrow(
      "run guest-ssh-add-authorized-keys in the guest: failed to lookup user 'nobody-here'",
    );
    const before = await read("/etc/shadow");
    await agent.setPassword("root", "pässword with : and 'quotes'");
    expect(await read("/etc/shadow")).not.toBe(before);
    await expect(agent.setPassword("nobody-here", "x")).rejects.toThrow("run guest-set-user-password in the guest");
  }, 90_000);

  it("freezes and thaws the guest's file systems", async () => {
    await agent.freeze();
    expect((await agent.info()).filesystemsFrozen).toBe(true);
    await agent.thaw();
    expect((await agent.info()).filesystemsFrozen).toBe(false);
  }, 90_000);
});

function machine(folder: string, guest: { kernel: string; initramfs: string }, disk: string): Domain {
  return {
    type: "qemu",
    name: "agent",
    memory: { value: 192, unit: "MiB" },
    os: {
      type: { value: "hvm", arch: "x86_64", machine: "q35" },
      kernel: guest.kernel,
      initrd: guest.initramfs,
      cmdline: "console=ttyS0 quiet no_timer_check hostname=agent",
    },
    features: { acpi: {} },
    devices: {
      disks: [
        {
          type: "file",
          device: "disk",
          driver: { name: "qemu", type: "qcow2" },
          source: { file: disk },
          target: { dev: "vda", bus: "virtio" },
          readonly: {},
        },
      ],
      interfaces: [{ type: "user", mac: { address: "52:54:00:12:34:56" }, model: { type: "virtio" } }],
      serials: [{ type: "file", sources: [{ path: join(folder, "serial.log") }], target: { port: "0" } }],
      channels: [
        {
          type: "unix",
          sources: [{ mode: "bind", path: join(folder, "agent.sock") }],
          target: { type: "virtio", name: "org.qemu.guest_agent.0" },
        },
      ],
    },
  };
}
