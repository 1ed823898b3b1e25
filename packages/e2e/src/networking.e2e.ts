import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { typeInConsole } from "./console.ts";
import { askFor, buildGuest, fetchText, guestAddress, guestWords, networkGuest } from "./network-guest.ts";

const isRoot = process.getuid?.() === 0;

/** Interfaces, namespaces and tables of rules of the machine that belong to one cluster's network. */
function networkOf(prefix: string): string[] {
  const octets = prefix.split(".");
  const hex = octets.map((octet) => Number(octet).toString(16).padStart(2, "0")).join("");
  const namespaces = existsSync("/run/netns") ? readdirSync("/run/netns") : [];
  const links = readdirSync("/sys/class/net");
  const tables = execFileSync("nft", ["list", "tables"], { encoding: "utf8" }).split("\n");
  return [
    ...[...namespaces, ...links].filter((name) => name.startsWith(`pv${hex}`) || name === `pvbr-${octets.join("-")}`),
    ...tables.filter((line) => line.endsWith(`polyvirt_${octets.join("_")}`)),
  ];
}

describe.runIf(isRoot)("guests in pods with networks of their own", () => {
  let cluster: TestCluster;
  let prefix = "";
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up("--nodes", "2");
    await buildGuest(cluster);
    const node = await cluster.kubectl("get", "node", "node-1", "-o", "jsonpath={.status.addresses[0].address}");
    prefix = node.stdout.split(".").slice(0, 2).join(".");
  });
  afterAll(() => cluster.destroy());

  const podOf = async (name: string): Promise<{ name: string; ip: string; node: string }> => {
    const fields = "{.items[0].metadata.name} {.items[0].status.podIP} {.items[0].spec.nodeName}";
    const { stdout } = await cluster.kubectl(
      "get",
      "pods",
      "-l",
      `vmi.kubevirt.io/id=${name}`,
      "-o",
      `jsonpath=${fields}`,
    );
    const [pod = "", ip = "", node = ""] = stdout.split(" ");
    return { name: pod, ip, node };
  };

  it("the node says which network its pods have", async () => {
    const path = `jsonpath={.status.conditions[?(@.type=="NetworkUnavailable")].reason}`;
    expect((await cluster.kubectl("get", "node", "node-2", "-o", path)).stdout).toBe("PodNetworkReady");
    expect(prefix).toMatch(/^10\.\d+$/);
  });

  it("a masqueraded guest is reached under its pod's address, and only on the ports that are listed", async () => {
    const iface = '{ name: default, masquerade: {}, macAddress: "02:00:00:aa:bb:01", ports: [{ port: 80 }] }';
    await cluster.apply(networkGuest({ name: "masquerade", iface, network: '{ vmNetworkCIDR: "10.11.12.0/24" }' }));
    const address = await guestAddress(cluster, "masquerade");
    expect(address).toBe((await podOf("masquerade")).ip);
    expect(address.startsWith(`${prefix}.`)).toBe(true);
    expect(await guestWords(`http://${address}/`)).toBe("masquerade amd64");
    const table = await cluster.kubectl("get", "vmi", "masquerade", "--no-headers");
    expect(table.stdout).toContain(address);
    // The guest itself serves on this port as well; the pod lets nothing through.
    await typeInConsole(cluster, "masquerade", {
      input: "httpd -p 8080 -h /www; echo more-$((1 + 1))\n",
      until: /more-2/,
    });
    expect(await fetchText(`http://${address}:8080/`)).toBe("");
    const seen = await typeInConsole(cluster, "masquerade", {
      input: "ip -4 addr show eth0; cat /sys/class/net/eth0/address\n",
      until: /02:00:00:aa:bb:01/,
    });
    expect(seen).toContain("10.11.12.2/24");
  });

  it("`kubectl port-forward` to its pod leads into the guest", async () => {
    const { name } = await podOf("masquerade");
    const env = { ...process.env, KUBECONFIG: join(cluster.dataDir, "kubeconfig") };
    const forward = spawn("kubectl", ["port-forward", `pod/${name}`, ":80"], {
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const port = await new Promise<string>((resolve) => {
        forward.stdout.on("data", (data: Buffer) => {
          const found = /127\.0\.0\.1:(\d+)/.exec(data.toString())?.[1];
          if (found !== undefined) resolve(found);
        });
      });
      expect(await guestWords(`http://127.0.0.1:${port}/`)).toBe("masquerade amd64");
    } finally {
      forward.kill();
    }
  });

  it("a bridged guest has the pod's own address, and guests of all nodes reach each other", async () => {
    await cluster.apply(networkGuest({ name: "bridge", iface: "{ name: default, bridge: {} }", node: "node-2" }));
    const address = await guestAddress(cluster, "bridge");
    expect(await guestWords(`http://${address}/`)).toBe("bridge amd64");
    const other = (await podOf("masquerade")).ip;
    const heard = await typeInConsole(cluster, "bridge", {
      input: `ip -4 addr show eth0; ${askFor(other)}; echo heard-$((1 + 1))\n`,
      until: /heard-2/,
    });
    expect(heard).toContain(`inet ${address}/16`);
    expect(heard).toContain("masquerade amd64");
    const back = await typeInConsole(cluster, "masquerade", {
      input: `${askFor(address)}; echo heard-$((1 + 1))\n`,
      until: /heard-2/,
    });
    expect(back).toContain("bridge amd64");
  });

  it.runIf(existsSync("/usr/bin/passt"))("passt connects a guest without any device of the pod", async () => {
    const gate = [
      { op: "add", path: "/spec/configuration/developerConfiguration/featureGates/-", value: "PasstBinding" },
    ];
    const patched = await cluster.kubectl(
      "-n",
      "kubevirt",
      "patch",
      "kubevirt",
      "kubevirt",
      "--type=json",
      `-p=${JSON.stringify(gate)}`,
    );
    if (patched.code !== 0) {
      const merge = { spec: { configuration: { developerConfiguration: { featureGates: ["PasstBinding"] } } } };
      await cluster.kubectl(
        "-n",
        "kubevirt",
        "patch",
        "kubevirt",
        "kubevirt",
        "--type=merge",
        `-p=${JSON.stringify(merge)}`,
      );
    }
    const manifest = networkGuest({
      name: "passt",
      iface: "{ name: default, passtBinding: {}, ports: [{ port: 80 }] }",
    });
    await eventually(
      () => cluster.apply(manifest),
      ({ code }) => code === 0,
    );
    const address = await guestAddress(cluster, "passt");
    expect(await guestWords(`http://${address}/`)).toBe("passt amd64");
  });

  it("guests keep their connection while the cluster's process is away, and after it has come back", async () => {
    const { ip } = await podOf("masquerade");
    const before = networkOf(prefix).toSorted();
    process.kill((await cluster.process(/dist\/cluster\.js/)).pid, "SIGKILL");
    expect(await guestWords(`http://${ip}/`)).toBe("masquerade amd64");
    await cluster.up();
    expect(await guestWords(`http://${ip}/`)).toBe("masquerade amd64");
    expect(networkOf(prefix).toSorted()).toEqual(before);
  });

  it("guests keep their connection when the node agent is replaced", async () => {
    const { ip, node } = await podOf("masquerade");
    const selector = ["-l", "kubevirt.io=virt-handler", "--field-selector", `spec.nodeName=${node}`];
    await cluster.kubectl("-n", "kubevirt", "delete", "pod", ...selector);
    await eventually(
      () => cluster.kubectl("-n", "kubevirt", "get", "pods", ...selector, "--no-headers"),
      ({ stdout }) => /\s1\/1\s+Running/.test(stdout),
    );
    expect(await guestWords(`http://${ip}/`)).toBe("masquerade amd64");
  });

  it("a deleted guest leaves nothing, and neither does the cluster", async () => {
    const { ip } = await podOf("masquerade");
    const member = `pv${ip
      .split(".")
      .map((octet) => Number(octet).toString(16).padStart(2, "0"))
      .join("")}`;
    expect(networkOf(prefix)).toContain(member);
    await cluster.kubectl("delete", "vmi", "masquerade", "--timeout=60s");
    await eventually(
      async () => networkOf(prefix),
      (left) => !left.includes(member),
    );
    await cluster.polyvirt("down");
    expect(networkOf(prefix)).toEqual([]);
  });
});

describe("guests in pods that share the machine's network", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up("--pod-network", "shared");
    await buildGuest(cluster);
  });
  afterAll(() => cluster.destroy());

  it("have a user-mode network with the ports that are listed", async () => {
    const path = `jsonpath={.status.conditions[?(@.type=="NetworkUnavailable")].reason}`;
    expect((await cluster.kubectl("get", "node", "node-1", "-o", path)).stdout).toBe("PodsShareMachineNetwork");
    await cluster.apply(
      networkGuest({ name: "user", iface: "{ name: default, masquerade: {}, ports: [{ port: 8080 }] }" }),
    );
    const address = await guestAddress(cluster, "user");
    expect(address).toMatch(/^127\./);
    const input = "httpd -p 8080 -h /www; httpd -p 8081 -h /www; echo more-$((1 + 1))\n";
    await typeInConsole(cluster, "user", { input, until: /more-2/ });
    expect(await guestWords(`http://${address}:8080/`)).toBe("user amd64");
    expect(await fetchText(`http://${address}:8081/`)).toBe("");
  });
});
