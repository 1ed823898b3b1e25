import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { grantDevice, tunDevice } from "../grant-device.ts";
import { identifyProcess, type ProcessIdentity } from "../process-identity.ts";
import { openProcessNetwork } from "./process-network.ts";

const children: ChildProcess[] = [];

/** A process behind `unshare`, once it has said that it runs. */
async function start(flags: readonly string[], script = "echo up; exec sleep 60"): Promise<ProcessIdentity> {
  const child = spawn("unshare", [...flags, "sh", "-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  await new Promise<void>((resolve) => child.stdout?.once("data", () => resolve()));
  const identity = identifyProcess(child.pid ?? 0);
  if (identity === undefined) throw new Error("the process has ended");
  return identity;
}

const nothing = { commands: "", settings: {}, rules: "" };

describe.runIf(process.getuid?.() === 0)("the network of a process", () => {
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  it("is changed by commands, settings and rules", async () => {
    const network = openProcessNetwork(await start(["--net"]));
    await network.configure({
      commands: "link add br0 type bridge\naddr add 10.0.2.1/24 dev br0\nlink set br0 up\n",
      settings: { "net/ipv4/conf/br0/route_localnet": "1", "net/ipv4/ip_forward": "1" },
      rules: "table ip test {\n chain c {\n  type filter hook input priority 0;\n }\n}\n",
    });
    expect(await network.query(["-4", "addr", "show", "dev", "br0"])).toMatchObject([
      { ifname: "br0", addr_info: [{ local: "10.0.2.1", prefixlen: 24 }] },
    ]);
    expect(fs.existsSync("/sys/class/net/br0")).toBe(false);
    await expect(network.configure({ ...nothing, commands: "link add br0 type bridge\n" })).rejects.toThrow(
      /File exists/,
    );
    await expect(network.configure({ ...nothing, rules: "nonsense" })).rejects.toThrow(/nsenter/);
    network.close();
  });

  it("is never the machine's", async () => {
    const identity = await start(["--uts"]);
    expect(() => openProcessNetwork(identity)).toThrow(expect.objectContaining({ code: "HostNetworkShared" }));
  });

  it("is not that of another process with the same id", async () => {
    const identity = await start(["--net"]);
    const stale = { ...identity, startTime: "1" };
    expect(() => openProcessNetwork(stale)).toThrow(expect.objectContaining({ code: "HostProcessGone" }));
    expect(() => grantDevice(stale, tunDevice, { uid: 107, gid: 107 })).toThrow(
      expect.objectContaining({ code: "HostProcessGone" }),
    );
  });
});

describe.runIf(process.getuid?.() === 0)("a device", () => {
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  const owner = { uid: 107, gid: 107 };
  const inOwnDev = (then: string): Promise<ProcessIdentity> =>
    start(["--mount"], `mount -t tmpfs tmpfs /dev && ${then} && echo up && exec sleep 60`);

  it("is made in the process's own /dev for its user", async () => {
    const identity = await inOwnDev("true");
    grantDevice(identity, tunDevice, owner);
    const made = fs.statSync(`/proc/${identity.pid}/root/dev/net/tun`);
    expect([made.uid, made.gid, made.rdev, made.isCharacterDevice()]).toEqual([107, 107, (10 << 8) | 200, true]);
    grantDevice(identity, tunDevice, owner);
  });

  it("is not made through a link that the process has put there", async () => {
    const target = fs.mkdtempSync("/tmp/pv-device-");
    try {
      const linked = await inOwnDev(`ln -s ${target} /dev/net`);
      expect(() => grantDevice(linked, tunDevice, owner)).toThrow(expect.objectContaining({ code: "HostPathUnsafe" }));
      fs.writeFileSync(`${target}/secret`, "x", { mode: 0o600 });
      const file = await inOwnDev(`mkdir /dev/net && ln -s ${target}/secret /dev/net/tun`);
      expect(() => grantDevice(file, tunDevice, owner)).toThrow(expect.objectContaining({ code: "HostPathUnsafe" }));
      expect(fs.readdirSync(target)).toEqual(["secret"]);
      expect(fs.statSync(`${target}/secret`).uid).toBe(0);
    } finally {
      fs.rmSync(target, { recursive: true });
    }
  });

  it("keeps its owner when something else is in its place", async () => {
    const other = await inOwnDev("mkdir /dev/net && mknod /dev/net/tun c 1 3");
    expect(() => grantDevice(other, tunDevice, owner)).toThrow(expect.objectContaining({ code: "HostPathUnsafe" }));
    expect(fs.statSync(`/proc/${other.pid}/root/dev/net/tun`).uid).toBe(0);
  });

  it("keeps its owner when it is the machine's own", async () => {
    const identity = await start(["--mount"]);
    if ((fs.statSync("/dev/net/tun").mode & 0o006) === 0o006) return grantDevice(identity, tunDevice, owner);
    expect(() => grantDevice(identity, tunDevice, owner)).toThrow(expect.objectContaining({ code: "HostUnsupported" }));
    expect(fs.statSync("/dev/net/tun").uid).toBe(0);
  });
});
