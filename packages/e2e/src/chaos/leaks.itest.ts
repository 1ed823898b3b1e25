/** Plants a leak of each kind and looks whether it is noticed: a check that finds nothing must be one that could have. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../cluster.ts";
import { run } from "../run.ts";
import { clusterTraces, tracesOf } from "./leaks.ts";

const uid = randomUUID();
/** A network that no cluster chooses. */
const network = "127.63";
const linkPrefix = "pv0a3f";
let dataDir: string;

beforeEach(() => {
  dataDir = realpathSync(mkdtempSync(join(tmpdir(), "leaks-")));
  writeFileSync(join(dataDir, "cluster.json"), JSON.stringify({ podNetwork: network }));
  mkdirSync(join(dataDir, "nodes/node-1"), { recursive: true });
  writeFileSync(join(dataDir, "nodes/node-1/cgroups"), groups().join("\n"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** In every hierarchy in which pods have theirs. */
const groups = (): string[] => {
  const version1 = ["pids", "memory", "cpu"].filter((name) => readdirSync("/sys/fs/cgroup").includes(name));
  return (version1.length > 0 ? version1 : ["."]).map((name) => join("/sys/fs/cgroup", name, "polyvirt/leaks"));
};

async function command(line: string): Promise<void> {
  const [program = "", ...args] = line.split(" ");
  const { code, stderr } = await run(program, args);
  if (code !== 0) throw new Error(`${line}: ${stderr}`);
}

/** Makes something that stays until the returned function takes it away. */
type Plant = () => Promise<() => Promise<unknown>>;

function process(inGroup: boolean): Plant {
  return async () => {
    const [group = ""] = groups();
    const script = inGroup ? `mkdir -p ${group}/${uid}; echo 0 > ${group}/${uid}/cgroup.procs; exec` : "exec env";
    const words = inGroup ? "sleep 100" : `MARK=${uid} sleep 100`;
    const child = spawn("sh", ["-c", `${script} ${words}`], { stdio: "ignore" });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    await eventually(
      () => run("ps", ["-o", "comm=", String(child.pid)]),
      ({ stdout }) => stdout.trim() === "sleep",
    );
    return async () => {
      child.kill("SIGKILL");
      await exited;
      if (inGroup) for (const path of [`${group}/${uid}`, group]) rmdirSync(path);
    };
  };
}

function folder(path: () => string): Plant {
  return async () => {
    mkdirSync(path(), { recursive: true });
    return async () => rmSync(path(), { recursive: true });
  };
}

function mount(path: () => string): Plant {
  return async () => {
    mkdirSync(path(), { recursive: true });
    await command(`mount -t tmpfs tmpfs ${path()}`);
    return async () => {
      await command(`umount ${path()}`);
      rmSync(path(), { recursive: true });
    };
  };
}

function socket(path: () => string): Plant {
  return async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path(), resolve));
    return () => new Promise((resolve) => server.close(resolve));
  };
}

function controlGroup(path: string, top: string): Plant {
  return async () => {
    mkdirSync(path, { recursive: true });
    return async () => {
      for (let at = path; at.length >= top.length; at = join(at, "..")) rmdirSync(at);
    };
  };
}

const made = (make: string, unmake: string, more: string[] = []): Plant => {
  return async () => {
    for (const line of [make, ...more]) await command(line);
    return () => command(unmake);
  };
};

const lastGroup = groups().at(-1) ?? "";

describe("what is left of a pod", () => {
  const pods = (): string => join(dataDir, "nodes/node-1/kubelet/pods", uid);
  const link = `${linkPrefix}0001`;
  it.each<[string, Plant, RegExp[]]>([
    ["a process, by its environment", process(false), [/^process \d+ sleep 100$/]],
    [
      "a process, by its control group",
      process(true),
      [/^process \d+ sleep 100$/, new RegExp(`^control group .*/polyvirt/leaks/${uid}$`)],
    ],
    [
      "an empty control group",
      controlGroup(join(lastGroup, uid), lastGroup),
      [new RegExp(`^control group ${lastGroup}/${uid}$`)],
    ],
    ["a folder", folder(pods), [new RegExp(`^file .*/kubelet/pods/${uid}$`)]],
    ["a mount", mount(pods), [new RegExp(`^mount .*/${uid}$`), new RegExp(`^file .*/${uid}$`)]],
    [
      "a socket",
      socket(() => join(dataDir, `${uid}.sock`)),
      [new RegExp(`^socket .*/${uid}.sock$`), new RegExp(`^file .*/${uid}.sock$`)],
    ],
    [
      "a network link",
      made(`ip link add ${link} type bridge`, `ip link del ${link}`, [`ip link set ${link} alias ${uid}`]),
      [new RegExp(`^network link ${link}$`)],
    ],
  ])("shows %s", async (_what, plant, expected) => {
    const look = (uids: string[]): string[] => tracesOf({ dataDir, uids });
    expect(look([uid])).toEqual([]);
    const remove = await plant();
    try {
      expect(look([uid])).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
      expect(look([randomUUID()])).toEqual([]);
    } finally {
      await remove();
    }
    expect(look([uid])).toEqual([]);
  });
});

describe("what is left of a cluster", () => {
  const [firstGroup = ""] = groups();
  const inside = (): string => join(dataDir, "nodes/node-1/host/shared");
  const table = "table ip polyvirt_10_63";
  it.each<[string, Plant, RegExp]>([
    ["the group of a node", controlGroup(firstGroup, firstGroup), /^control group .*\/polyvirt\/leaks$/],
    ["a mount", mount(inside), /^mount .*\/shared$/],
    ["a socket", socket(() => join(dataDir, "x.sock")), /^socket .*\/x.sock$/],
    ["its bridge", made("ip link add pvbr-10-63 type bridge", "ip link del pvbr-10-63"), /^network link pvbr-10-63$/],
    [
      "a link of a pod",
      made(`ip link add ${linkPrefix}0002 type bridge`, `ip link del ${linkPrefix}0002`),
      /^network link pv0a3f0002$/,
    ],
    [
      "a network namespace",
      made(`ip netns add ${linkPrefix}0003`, `ip netns del ${linkPrefix}0003`),
      /^network namespace pv0a3f0003$/,
    ],
    ["its firewall rules", made(`nft add ${table}`, `nft delete ${table}`), /^firewall table ip polyvirt_10_63$/],
  ])("shows %s", async (_what, plant, expected) => {
    expect(await clusterTraces(dataDir)).toEqual([]);
    const remove = await plant();
    try {
      expect(await clusterTraces(dataDir)).toEqual([expect.stringMatching(expected)]);
    } finally {
      await remove();
    }
    expect(await clusterTraces(dataDir)).toEqual([]);
  });

  it("refuses to look when a node does not say where its groups are", async () => {
    rmSync(join(dataDir, "nodes/node-1/cgroups"));
    await expect(clusterTraces(dataDir)).rejects.toThrow("node-1 does not say where its control groups are");
  });
});
