import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer, type Server } from "node:net";
import { pods, type Pod } from "@polyvirt/api/k8s";
import { silentLogger } from "@polyvirt/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NodeHarness, shell } from "../../testing/node-harness.ts";
import { openPodNetwork, removePodNetwork, type PodNetwork } from "./pod-network.ts";

/** Outside of what clusters choose from; another one for each process, because tests may run side by side. */
const octet = 130 + (process.pid % 60);
const prefix = `10.${octet}`;

const machineLinks = (): string[] => fs.readdirSync("/sys/class/net");
const namespaces = (): string[] => fs.readdirSync("/run/netns");
const memberOf = (address: string): string =>
  `pv${address
    .split(".")
    .map((part) => Number(part).toString(16).padStart(2, "0"))
    .join("")}`;

describe.runIf(process.getuid?.() === 0)("pods with a network of their own", () => {
  let harness: NodeHarness;
  let network: PodNetwork;
  let apiServer: Server;

  beforeAll(async () => {
    apiServer = createServer((socket) => socket.end("the API server\n"));
    await new Promise<void>((resolve) => apiServer.listen(0, "127.0.0.1", resolve));
    const address = apiServer.address();
    const apiServerPort = typeof address === "object" && address !== null ? address.port : 0;
    network = await openPodNetwork({ octet, nodes: 1, apiServerPort, logger: silentLogger });
    harness = new NodeHarness({ network, apiServerPort });
    harness.startNode();
  });
  afterAll(async () => {
    await harness.dispose();
    await network.remove();
    apiServer.close();
  });

  const running = (name: string): Promise<Pod> =>
    harness.podThat(name, ({ status }) => status?.phase === "Running" || status?.phase === "Failed");
  const addressOf = ({ status }: Pod): string => status?.podIP ?? "";
  const finished = async (name: string): Promise<string[]> =>
    harness.lines(await harness.podInPhase(name, "Succeeded"));
  /** A server that tells each client who it is, in a language that every machine has which runs us. */
  const server = (words: string): string =>
    `exec ${process.execPath} -e 'require("net").createServer((s) => s.end("${words}\\n")).listen(8080, process.env.POD_IP)'`;
  const podIp = { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } };
  const client = (host: string, port: string): string =>
    `${process.execPath} -e 'require("net").connect(${port}, "${host}").on("error", (e) => console.log(e.code)).pipe(process.stdout)'`;

  it("says so on the node", () => {
    expect(network).toMatchObject({ prefix, apiServerHost: `${prefix}.0.1`, sharedBecause: undefined });
  });

  it("are connected with each other, with the machine and with the API server", async () => {
    await harness.createPod("server", { containers: [shell(server("hello"), { env: [podIp] })] });
    const address = addressOf(await running("server"));
    expect(address.startsWith(`${prefix}.4.`)).toBe(true);
    await harness.createPod("client", {
      restartPolicy: "Never",
      containers: [
        shell(
          `until ${client(address, "8080")} | grep hello; do sleep 0.2; done; ${client(`${prefix}.0.1`, "process.env.KUBERNETES_SERVICE_PORT")}; ls /sys/class/net; cat /proc/net/dev | grep -c :`,
        ),
      ],
    });
    expect(await finished("client")).toEqual(["hello", "the API server", "eth0", "lo", "2"]);
    execFileSync("sh", ["-c", `${client(address, "8080")} | grep hello`]);
  });

  it("share one among the containers of a pod, and none with the machine", async () => {
    const main = shell(`for i in 1 2 3 4 5 6 7 8 9; do readlink /proc/self/ns/net; sleep 0.1; done | sort -u`);
    await harness.createPod("two", { restartPolicy: "Never", containers: [main, { ...main, name: "side" }] });
    const pod = await harness.podInPhase("two", "Succeeded");
    expect(harness.lines(pod)).toEqual(harness.lines(pod, "side"));
    expect(harness.lines(pod)).not.toEqual([fs.readlinkSync("/proc/self/ns/net")]);
  });

  it("stay in the machine's network when they ask for it", async () => {
    const containers = [shell("readlink /proc/self/ns/net")];
    await harness.createPod("host", { hostNetwork: true, restartPolicy: "Never", containers });
    expect(await finished("host")).toEqual([fs.readlinkSync("/proc/self/ns/net")]);
    expect(addressOf(await harness.pod("host"))).toBe(`${prefix}.0.1`);
  });

  it("keep it while the kubelet is away, and after it has come back", async () => {
    const before = await harness.pod("server");
    const inode = fs.statSync(`/run/netns/${memberOf(addressOf(before))}`).ino;
    await harness.stop();
    execFileSync("sh", ["-c", `${client(addressOf(before), "8080")} | grep hello`]);
    harness.startNode();
    await harness.createPod("later", { restartPolicy: "Never", containers: [shell("true")] });
    await harness.podInPhase("later", "Succeeded");
    expect(addressOf(await harness.pod("server"))).toBe(addressOf(before));
    expect(fs.statSync(`/run/netns/${memberOf(addressOf(before))}`).ino).toBe(inode);
    execFileSync("sh", ["-c", `${client(addressOf(before), "8080")} | grep hello`]);
  });

  it("leave nothing behind", async () => {
    const member = memberOf(addressOf(await harness.pod("server")));
    expect(namespaces()).toContain(member);
    expect(machineLinks()).toContain(member);
    await harness.client.delete(pods, "server", "default", { gracePeriodSeconds: 0 });
    await expect.poll(() => [...namespaces(), ...machineLinks()].includes(member), { timeout: 10_000 }).toBe(false);
    await removePodNetwork(octet);
    const prefixed = memberOf(prefix);
    expect([...namespaces(), ...machineLinks()].filter((name) => name.startsWith(prefixed))).toEqual([]);
    expect(machineLinks()).not.toContain(`pvbr-10-${octet}`);
    expect(execFileSync("nft", ["list", "tables"], { encoding: "utf8" })).not.toContain(`polyvirt_10_${octet}`);
  });
});

describe("pods where no network can be made", () => {
  it("share the machine's, and the reason is known", async () => {
    // There is no such octet, so that the machine refuses.
    const network = await openPodNetwork({ octet: 999, nodes: 1, apiServerPort: 1, logger: silentLogger });
    expect(network).toMatchObject({ prefix: "127.999", apiServerHost: "127.0.0.1" });
    expect(network.sharedBecause).toMatch(/./);
    expect(await network.attach("uid", "127.64.4.1")).toBeUndefined();
  });
});
