import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { systemClock } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isAlive } from "../process-identity.ts";
import { execInContainer } from "./container-exec.ts";
import { adoptContainer, startContainer, type ContainerProcess } from "./container-process.ts";
import type { ContainerSpec } from "./container-spec.ts";
import type { ContainerState } from "./container-state.ts";

let base: string;
let started: ContainerProcess[];

beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), "container-"));
  started = [];
});
afterEach(async () => {
  for (const container of started) container.kill();
  for (const container of started) await ended(container);
  fs.rmSync(base, { recursive: true, force: true });
});

const spec: ContainerSpec = {
  command: ["sh", "-c", "exit 0"],
  environment: new Map([["PATH", "/usr/bin:/bin"]]),
  workingDirectory: "/",
  hostname: "inside",
  mounts: [],
  maskedDirectories: [],
  visiblePaths: [],
  privileged: false,
  hostPid: false,
  input: false,
  terminal: false,
  readOnlyRoot: false,
  credentials: { uid: 0, gid: 0, groups: [], capabilities: ["chown"], noNewPrivileges: true },
  groupName: "",
  limits: {},
};

function start(more: Partial<ContainerSpec>): ContainerProcess {
  const name = `c${started.length}`;
  const groupName = `test/${path.basename(base)}-${name}`;
  const container = startContainer(path.join(base, name), { ...spec, groupName, ...more }, systemClock);
  started.push(container);
  return container;
}

const shell = (script: string, more: Partial<ContainerSpec> = {}): ContainerProcess =>
  start({ command: ["sh", "-c", script], ...more });

function ended(container: ContainerProcess): Promise<ContainerState & { phase: "exited" }> {
  return vi.waitUntil(() => {
    const state = container.state();
    return state.phase === "exited" ? state : undefined;
  }, 20_000);
}

function running(container: ContainerProcess): Promise<ContainerState & { phase: "running" }> {
  return vi.waitUntil(() => {
    const state = container.state();
    return state.phase === "running" ? state : undefined;
  }, 20_000);
}

const output = (container: ContainerProcess, stream = "stdout"): string =>
  fs.readFileSync(path.join(container.directory, stream), "utf8");

describe("a container", () => {
  it("reports its exit code", async () => {
    expect(await ended(shell("exit 7"))).toMatchObject({ exitCode: 7, lost: false });
    expect(await ended(shell("kill -KILL $$; exec sh -c 'exit 9'"))).toMatchObject({ exitCode: 9 });
  });

  it("leaves no control group, also when its directory is removed the moment it has ended", async () => {
    const container = shell("sleep 1000 & exit 0");
    const recorded = fs.readFileSync(path.join(container.directory, "cgroups"), "utf8");
    const groups = recorded.split("\n").filter((group) => group !== "");
    await ended(container);
    fs.rmSync(container.directory, { recursive: true });
    await expect.poll(() => groups.filter((group) => fs.existsSync(group)), { timeout: 5_000 }).toEqual([]);
  });

  it("has its own processes, host name, devices and root", async () => {
    const container = shell(
      "echo $$; hostname; ls /dev | tr '\\n' ' '; echo; touch /written && ls /written; ls -d /.polyvirt 2>&1 | tail -c 30",
    );
    await ended(container);
    const [pid, hostname, devices, written] = output(container).split("\n");
    expect([pid, hostname, written]).toEqual(["1", "inside", "/written"]);
    expect(devices).toBe("fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ");
    expect(fs.existsSync("/written")).toBe(false);
    expect(fs.existsSync("/.polyvirt")).toBe(false);
  });

  it("gets device nodes of its own, which it can be given without changing the machine's", async () => {
    const container = shell("chown 107 /dev/net/tun && stat -c '%t:%T %u' /dev/net/tun", {
      devices: [{ source: "/dev/null", target: "/dev/net/tun" }],
    });
    await ended(container);
    expect(output(container)).toBe("1:3 107\n");
    expect(fs.statSync("/dev/null").uid).toBe(0);
  });

  it("cannot change the machine although it is root", async () => {
    const tries = [
      "echo x > /proc/sys/kernel/core_pattern",
      "echo b > /proc/sysrq-trigger",
      "mount -t tmpfs tmpfs /mnt",
      "mknod /tmp/disk b 254 0",
      "echo 1 > /sys/kernel/mm/ksm/run",
      "hostname other",
    ];
    const container = shell(tries.map((command) => `(${command}) 2>/dev/null && echo "did: ${command}"`).join("\n"));
    await ended(container);
    expect(output(container)).toBe("");
  });

  it("gets texts exactly as they are given", async () => {
    const nasty = [
      "'; touch /escaped; '",
      "$(touch /escaped)",
      "`touch /escaped`",
      '"\\\n\t$HOME',
      "-e",
      "",
      "*",
      "a b",
    ];
    const environment = new Map([
      ["PATH", "/usr/bin:/bin"],
      ["NASTY", nasty.join("|")],
      ["LD_PRELOAD", "/nonexistent.so"],
      ["dotted.name", "yes"],
    ]);
    const container = start({
      command: ["python3", "-c", "import sys,os,json; print(json.dumps([sys.argv[1:], dict(os.environ)]))", ...nasty],
      environment,
    });
    await ended(container);
    expect(output(container, "stderr").replaceAll(/ERROR: ld.so: .*\n/g, "")).toBe("");
    const [argv, env] = JSON.parse(output(container)) as [string[], Record<string, string>];
    expect(argv).toEqual(nasty);
    expect(env).toMatchObject({ NASTY: nasty.join("|"), "dotted.name": "yes" });
    expect(Object.keys(env).filter((name) => name.startsWith("PV_"))).toEqual([]);
    expect(fs.existsSync("/escaped")).toBe(false);
    // The pod's preload must not have reached the shim.
    expect(fs.readFileSync(path.join(container.directory, "shim-log"), "utf8")).toBe("");
  });

  it("mounts volumes, also below /var/run, read-only where asked, parents first", async () => {
    fs.mkdirSync(path.join(base, "outer"));
    fs.mkdirSync(path.join(base, "inner"));
    fs.writeFileSync(path.join(base, "inner/file"), "content");
    const directory = { kind: "directory", recursive: false } as const;
    const container = shell(
      "cat /var/run/a/b/file; echo; echo more > /var/run/a/new; echo x > /var/run/a/b/new || echo refused; cat /etc/one",
      {
        mounts: [
          { ...directory, source: path.join(base, "outer"), target: "/var/run/a", readOnly: false },
          { ...directory, source: path.join(base, "inner"), target: "/var/run/a/b", readOnly: true },
          { source: path.join(base, "inner/file"), target: "/etc/one", kind: "file", readOnly: true, recursive: false },
        ],
      },
    );
    await ended(container);
    expect(output(container)).toBe("content\nrefused\ncontent");
    expect(fs.readFileSync(path.join(base, "outer/new"), "utf8")).toBe("more\n");
  });

  it("does not let a symlink in a volume lead a mount point out of the container", async () => {
    const victim = path.join(base, "victim");
    fs.mkdirSync(victim);
    fs.mkdirSync(path.join(base, "volume"));
    fs.mkdirSync(path.join(base, "second"));
    for (const [index, target] of [victim, `/.polyvirt/old${victim}`, `../../../../..${victim}`].entries()) {
      fs.rmSync(path.join(base, "volume/link"), { force: true });
      fs.symlinkSync(target, path.join(base, "volume/link"));
      const common = { kind: "directory", readOnly: false, recursive: false } as const;
      const container = shell(`touch /v/link/made/file${index}; true`, {
        mounts: [
          { ...common, source: path.join(base, "volume"), target: "/v" },
          { ...common, source: path.join(base, "second"), target: "/v/link/made" },
        ],
      });
      await ended(container);
      expect(fs.readdirSync(victim)).toEqual([]);
    }
  });

  it("refuses a source that was exchanged", async () => {
    fs.mkdirSync(path.join(base, "real"));
    const { dev, ino } = fs.statSync(path.join(base, "real"), { bigint: true });
    const mount = {
      target: "/v",
      kind: "directory",
      readOnly: false,
      recursive: false,
      inode: `${dev}:${ino}`,
    } as const;
    const good = shell("exit 0", { mounts: [{ ...mount, source: path.join(base, "real") }] });
    expect(await ended(good)).toMatchObject({ exitCode: 0 });
    fs.symlinkSync("/etc", path.join(base, "exchanged"));
    const bad = shell("exit 0", { mounts: [{ ...mount, source: path.join(base, "exchanged") }] });
    expect(await ended(bad)).toMatchObject({ exitCode: 125, setupError: expect.stringContaining("was exchanged") });
  });

  it("sees masked directories empty", async () => {
    fs.writeFileSync(path.join(base, "secret"), "hidden");
    const container = shell(`ls -A ${base} | wc -l`, { maskedDirectories: [base] });
    await ended(container);
    expect(output(container).trim()).toBe("0");
  });

  it.each([
    ["a command that is not there", ["no-such-command"], /"no-such-command": executable file not found in \$PATH/],
    ["a path that is not there", ["/no/such/file"], /"\/no\/such\/file": no such executable file/],
    ["a directory", ["/etc"], /"\/etc": no such executable file/],
    ["a name that would be an assignment", ["A=b"], /must not contain '='/],
  ])("says why it cannot execute %s", async (_name, command, message) => {
    const state = await ended(start({ command }));
    expect(state.setupError).toMatch(message);
  });

  it("runs as another user with fewer rights", async () => {
    const container = shell("id -u; id -g; id -G; grep -E 'CapBnd|NoNewPrivs' /proc/self/status", {
      credentials: { uid: 1234, gid: 2345, groups: [3456], capabilities: [], noNewPrivileges: true },
    });
    await ended(container);
    expect(
      output(container)
        .replaceAll(/[\t ]+/g, " ")
        .split("\n")
        .slice(0, 5),
    ).toEqual(["1234", "2345", "2345 3456", "CapBnd: 0000000000000000", "NoNewPrivs: 1"]);
  });

  it("is not written to with a read-only root", async () => {
    const container = shell("touch /x 2>/dev/null || echo refused; touch /run/x && echo ok", { readOnlyRoot: true });
    await ended(container);
    expect(output(container)).toBe("refused\nok\n");
  });
});

describe("ending a container", () => {
  const family = "sleep 1000 & (setsid sleep 1001 &) ; sleep 1002";
  const sleepers = (directory: string): number[] =>
    fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          const own = fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes(`MARK=${directory}\0`);
          return own && !fs.readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
        } catch {
          return false;
        }
      });

  it.each([
    ["with its own process ids", false],
    ["with the machine's process ids", true],
  ])("ends all its processes %s", async (_name, hostPid) => {
    const environment = new Map([
      ["PATH", "/usr/bin:/bin"],
      ["MARK", base],
    ]);
    const container = shell(family, { hostPid, privileged: hostPid, environment });
    await running(container);
    await vi.waitUntil(() => sleepers(base).length >= 4, 10_000);
    container.kill();
    expect(await ended(container)).toMatchObject({ exitCode: 137 });
    await vi.waitUntil(() => sleepers(base).length === 0, 10_000);
  });

  it("reaches the first process with a signal", async () => {
    const container = shell("trap 'exit 5' TERM; while :; do sleep 0.05; done");
    await running(container);
    await systemClock.sleep(100);
    container.signal("SIGTERM");
    expect(await ended(container)).toMatchObject({ exitCode: 5 });
  });
});

describe("taking over", () => {
  it("finds a running container and notices its end at once", async () => {
    const first = shell("sleep 1000");
    const { init } = await running(first);
    first.detach();
    const second = adoptContainer(first.directory, systemClock);
    expect(second.state()).toMatchObject({ phase: "running", init });
    const noticed = new Promise<void>((resolve) => second.onChange(resolve));
    process.kill(init.pid, "SIGKILL");
    await noticed;
    expect(second.state()).toMatchObject({ phase: "exited", exitCode: 137, lost: false });
  });

  it("knows the exit code of a container that ended meanwhile", async () => {
    const first = shell("exit 3");
    await ended(first);
    expect(adoptContainer(first.directory, systemClock).state()).toMatchObject({ exitCode: 3, lost: false });
  });

  it("ends a container whose shim was killed", async () => {
    const container = shell("sleep 1000");
    const { shim, init } = await running(container);
    // A running container has a shim.
    process.kill(shim!.pid, "SIGKILL");
    expect(await ended(container)).toMatchObject({ exitCode: 137, lost: true });
    await vi.waitUntil(() => !isAlive(init), 10_000);
  });

  it("does not take a process of another boot for its own", async () => {
    const container = shell("sleep 1000");
    await running(container);
    const copy = path.join(base, "copy");
    fs.cpSync(container.directory, copy, { recursive: true });
    fs.writeFileSync(path.join(copy, "boot-id"), "another-boot");
    fs.rmSync(path.join(copy, "cgroups"));
    expect(adoptContainer(copy, systemClock).state()).toMatchObject({ phase: "exited", lost: true });
    expect(container.state().phase).toBe("running");
  });
});

describe("execInContainer", () => {
  it("runs inside, with the container's environment and rights, and ends when it is killed", async () => {
    const container = shell("sleep 1000", {
      environment: new Map([
        ["PATH", "/usr/bin:/bin"],
        ["NAME", "value"],
      ]),
    });
    const { init } = await running(container);
    const options = {
      directory: container.directory,
      init,
      credentials: spec.credentials,
      privileged: false,
      workingDirectory: "/etc",
    };
    const child = execInContainer({
      ...options,
      command: ["sh", "-c", "echo $NAME; pwd; hostname; ls /proc | grep -c '^1$'; exit 4"],
    });
    let text = "";
    child.stdout?.on("data", (data: Buffer) => (text += data.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect(text).toBe("value\n/etc\ninside\n1\n");
    expect(code).toBe(4);
    const endless = execInContainer({ ...options, command: ["sleep", "2000"] });
    await vi.waitUntil(() => commandLines().includes("sleep 2000"), 10_000);
    endless.kill("SIGKILL");
    await vi.waitUntil(() => !commandLines().includes("sleep 2000"), 10_000);
  });
});

function commandLines(): string[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
      } catch {
        return "";
      }
    });
}
