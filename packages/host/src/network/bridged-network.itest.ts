import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBridgedNetwork, removeBridgedNetwork, usedNetworks, type BridgedNetwork } from "./bridged-network.ts";
import { bridgeName, memberName, rulesTable } from "./bridged-network-plan.ts";
import { socketInNetwork } from "./connect-in-network.ts";

/** A range that clusters do not choose from; another one for each process, because tests may run side by side. */
const prefix = `10.${200 + (process.pid % 50)}`;
const [gateway, first, second] = ["0.1", "4.1", "4.2"].map((rest) => `${prefix}.${rest}`) as [string, string, string];
const run = (...command: [string, ...string[]]): string =>
  execFileSync(command[0], command.slice(1), { encoding: "utf8" });
const links = (): string[] => fs.readdirSync("/sys/class/net");

describe.runIf(process.getuid?.() === 0)("a bridged network", () => {
  let network: BridgedNetwork;
  let onLoopback: Server;
  let port = 0;
  const servers = new Map<string, ReturnType<typeof spawn>>();

  beforeAll(async () => {
    onLoopback = createServer((socket) => socket.end("loopback"));
    await new Promise<void>((resolve) => onLoopback.listen(0, "127.0.0.1", resolve));
    const address = onLoopback.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
    network = createBridgedNetwork({ prefix, hostAddresses: [gateway, `${prefix}.0.2`], loopbackPort: port });
    await network.open();
  });
  afterAll(async () => {
    for (const child of servers.values()) child.kill();
    await removeBridgedNetwork(prefix);
    onLoopback.close();
  });

  /** What a TCP client hears, from the machine or from inside of a namespace. */
  function hear(host: string, at: number, from?: string): Promise<string> {
    return new Promise((resolve) => {
      const socket =
        from === undefined ? connect({ host, port: at }) : socketInNetwork(from).connect({ host, port: at });
      let heard = "";
      socket.setTimeout(1500, () => socket.destroy(new Error("timeout")));
      socket.on("data", (data) => (heard += data.toString()));
      socket.on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
      socket.on("close", () => resolve(heard));
    });
  }

  /** A server inside of a namespace. */
  async function serve(namespace: string, host: string, words: string): Promise<void> {
    const script = `require("net").createServer((s) => s.end(${JSON.stringify(words)})).listen(8080, ${JSON.stringify(host)}, () => console.log("up"))`;
    const child = spawn("nsenter", [`--net=${namespace}`, process.execPath, "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    servers.set(host, child);
    await new Promise<void>((resolve) => child.stdout?.once("data", () => resolve()));
  }

  it("connects namespaces with each other and with the machine", async () => {
    const one = await network.attach(first, "one");
    const two = await network.attach(second, "two");
    await serve(one, first, "one");
    expect(await hear(first, 8080)).toBe("one");
    expect(await hear(first, 8080, two)).toBe("one");
    expect(await hear(`${prefix}.4.9`, 8080, two)).toMatch(/EHOSTUNREACH|timeout/);
  });

  it("leads one port of the gateway to the machine's loopback and nothing else", async () => {
    const one = await network.attach(first, "one");
    expect(await hear(gateway, port, one)).toBe("loopback");
    expect(await hear(gateway, port)).toBe("loopback");
    expect(await hear(`${prefix}.0.2`, port, one)).toBe("ECONNREFUSED");
  });

  it("keeps a namespace away from the machine's loopback that would send packets there", async () => {
    const path = await network.attach(`${prefix}.4.3`, "three");
    const script = [
      "ip addr del 127.0.0.1/8 dev lo",
      "ip link set lo down",
      `ip route add 127.0.0.0/8 via ${gateway}`,
      "echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet",
    ];
    run("nsenter", `--net=${path}`, "sh", "-c", script.join(" && "));
    expect(await hear("127.0.0.1", port, path)).toBe("timeout");
    // The packets do arrive: only the rule holds them up.
    run("nft", "flush", "chain", "ip", rulesTable(prefix), "guard");
    expect(await hear("127.0.0.1", port, path)).toBe("loopback");
    await network.open();
    expect(await hear("127.0.0.1", port, path)).toBe("timeout");
    await network.detach(`${prefix}.4.3`);
  });

  it("lets namespaces reach the outside under the machine's address, and nobody outside reach them", async () => {
    const outside = `pvtest${process.pid % 1000}`;
    const commands = [
      `ip netns add ${outside}`,
      `ip link add ${outside} type veth peer name eth0 netns ${outside}`,
      `ip addr add 198.51.100.1/30 dev ${outside} && ip link set ${outside} up`,
      `ip -n ${outside} addr add 198.51.100.2/30 dev eth0 && ip -n ${outside} link set eth0 up`,
      // The outside knows the way to the network behind the machine, and tries it.
      `ip -n ${outside} route add ${prefix}.0.0/16 via 198.51.100.1`,
    ];
    run("sh", "-c", commands.join(" && "));
    try {
      const wide = { prefix, hostAddresses: [gateway], loopbackPort: port, uplinks: [outside] };
      await createBridgedNetwork(wide).open();
      const one = await network.attach(first, "one");
      await serve(`/run/netns/${outside}`, "198.51.100.2", "outside");
      expect(await hear("198.51.100.2", 8080, one)).toBe("outside");
      expect(await hear(first, 8080)).toBe("one");
      expect(await hear(first, 8080, `/run/netns/${outside}`)).toBe("timeout");
      expect(await hear(gateway, port, `/run/netns/${outside}`)).toBe("timeout");
    } finally {
      servers.get("198.51.100.2")?.kill();
      run("sh", "-c", `ip link del ${outside}; ip netns del ${outside}`);
      await network.open();
    }
  });

  it("leaves a namespace as it is for the same owner and makes it anew for another", async () => {
    const loopbackOf = (path: string): string => run("nsenter", `--net=${path}`, "ip", "addr", "show", "dev", "lo");
    // Numbers of namespaces are used again; what somebody did in one is not.
    const mark = "192.0.2.77";
    run("nsenter", `--net=${await network.attach(second, "two")}`, "ip", "addr", "add", `${mark}/32`, "dev", "lo");
    await network.open();
    expect(loopbackOf(await network.attach(second, "two"))).toContain(mark);
    expect(loopbackOf(await network.attach(second, "other"))).not.toContain(mark);
  });

  it("finishes what was begun", async () => {
    const address = `${prefix}.4.7`;
    run("ip", "netns", "add", memberName(address));
    const path = await network.attach(address, "seven");
    expect(run("nsenter", `--net=${path}`, "ip", "-4", "addr", "show", "dev", "eth0")).toContain(`${address}/16`);
    await network.detach(address);
  });

  it("shows in the machine's routes", async () => {
    expect(await usedNetworks()).toContain(`${prefix}.0.0/16`);
  });

  it("refuses what is not an address of its own", async () => {
    await expect(network.attach("10.1.2.3", "x")).rejects.toThrow(/is not in/);
    await expect(network.attach(`${prefix}.4.1; reboot`, "x")).rejects.toThrow(/is not in/);
    await expect(network.detach(`${prefix}.4.999`)).rejects.toThrow(/is not in/);
    await expect(removeBridgedNetwork("10")).rejects.toThrow(/two numbers/);
  });

  it("leaves nothing behind", async () => {
    await network.detach(second);
    expect(links()).not.toContain(memberName(second));
    expect(fs.readdirSync("/run/netns")).not.toContain(memberName(second));
    expect(await removeBridgedNetwork(prefix)).toBe(true);
    expect(links()).not.toContain(bridgeName(prefix));
    expect(links().filter((name) => name.startsWith(memberName(prefix)))).toEqual([]);
    expect(fs.readdirSync("/run/netns").filter((name) => name.startsWith(memberName(prefix)))).toEqual([]);
    expect(run("nft", "list", "tables")).not.toContain(rulesTable(prefix));
    expect(await removeBridgedNetwork(prefix)).toBe(false);
  });
});
