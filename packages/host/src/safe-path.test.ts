import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { hasCode } from "@polyvirt/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createFileBeneath,
  makeDirectoryBeneath,
  openBeneath,
  openFileForReading,
  openTrustedDirectory,
  type OpenedPath,
} from "./safe-path.ts";

let base: string;
let root: OpenedPath;

beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), "safe-path-"));
  fs.mkdirSync(path.join(base, "volume/inner"), { recursive: true });
  fs.writeFileSync(path.join(base, "secret"), "host secret");
  fs.writeFileSync(path.join(base, "volume/inner/file"), "ours");
  root = openTrustedDirectory(path.join(base, "volume"));
});

afterEach(() => {
  root.close();
  fs.rmSync(base, { recursive: true });
});

function refusalOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof Error && "code" in error) return String(error.code);
    throw error;
  }
  return "done";
}

describe("openBeneath", () => {
  it("opens what is there", () => {
    using file = openBeneath(root, "inner/file", { expect: "file" });
    expect(fs.readFileSync(file.path, "utf8")).toBe("ours");
  });

  const traps: [string, (volume: string) => void, string][] = [
    ["a symlink to a host file", (v) => fs.symlinkSync("../secret", `${v}/trap`), "trap"],
    ["an absolute symlink", (v) => fs.symlinkSync("/etc/passwd", `${v}/trap`), "trap"],
    ["a symlink on the way", (v) => fs.symlinkSync("..", `${v}/trap`), "trap/secret"],
    ["a symlink to a sibling inside", (v) => fs.symlinkSync("inner", `${v}/trap`), "trap/file"],
    ["a dangling symlink", (v) => fs.symlinkSync("nowhere", `${v}/trap`), "trap"],
    ["dot-dot", () => {}, "inner/../../secret"],
    ["an absolute path", () => {}, "/etc/passwd"],
    ["a NUL byte", () => {}, "inner\0/file"],
    ["a directory where a file is expected", () => {}, "inner"],
  ];
  it.each(traps)("refuses %s", (_name, place, relative) => {
    place(path.join(base, "volume"));
    expect(refusalOf(() => openFileForReading(root, relative))).toBe("HostPathUnsafe");
  });

  it("does not block on a FIFO in the place of a file", () => {
    const { status } = childMkfifo(path.join(base, "volume/pipe"));
    expect(status).toBe(0);
    expect(refusalOf(() => openFileForReading(root, "pipe"))).toBe("HostPathUnsafe");
  });

  it("says when something is missing", () => {
    expect(refusalOf(() => openBeneath(root, "inner/none"))).toBe("HostPathMissing");
  });

  it("goes on naming the opened file after it was exchanged for a symlink", () => {
    using file = openBeneath(root, "inner/file");
    fs.rmSync(path.join(base, "volume/inner/file"));
    fs.symlinkSync("../../secret", path.join(base, "volume/inner/file"));
    expect(fs.readFileSync(file.path, "utf8")).toBe("ours");
  });

  it("leaves no descriptor behind", () => {
    const before = fs.readdirSync("/proc/self/fd").length;
    openBeneath(root, "inner/file").close();
    refusalOf(() => openBeneath(root, "inner/none"));
    refusalOf(() => openFileForReading(root, "inner"));
    makeDirectoryBeneath(root, "x/y/z").close();
    expect(fs.readdirSync("/proc/self/fd").length).toBe(before);
  });
});

describe("creating beneath", () => {
  it("makes directories and files, and does not go through symlinks", () => {
    makeDirectoryBeneath(root, "a/b", { mode: 0o700 }).close();
    createFileBeneath(root, "a/b/c", "text", { mode: 0o600 });
    expect(fs.readFileSync(path.join(base, "volume/a/b/c"), "utf8")).toBe("text");
    fs.symlinkSync("..", path.join(base, "volume/up"));
    expect(refusalOf(() => makeDirectoryBeneath(root, "up/made"))).toBe("HostPathUnsafe");
    expect(refusalOf(() => createFileBeneath(root, "up/made", ""))).toBe("HostPathUnsafe");
    fs.symlinkSync("../secret", path.join(base, "volume/a/link"));
    expect(refusalOf(() => createFileBeneath(root, "a/link", "overwritten"))).toBe("HostPathUnsafe");
    expect(fs.readFileSync(path.join(base, "secret"), "utf8")).toBe("host secret");
    expect(fs.existsSync(path.join(base, "made"))).toBe(false);
  });

  it("names single entries only", () => {
    expect(refusalOf(() => root.child("a/b"))).toBe("HostPathUnsafe");
    expect(refusalOf(() => root.child(".."))).toBe("HostPathUnsafe");
  });
});

describe("sockets", () => {
  it("listens in an opened directory and connects to an opened socket", async () => {
    using directory = openBeneath(root, "inner");
    const server = net.createServer((socket) => socket.end("hello"));
    await new Promise<void>((resolve) => server.listen(directory.child("s"), resolve));
    using target = openBeneath(root, "inner/s", { expect: "socket" });
    const text = await new Promise<string>((resolve, reject) => {
      const socket = net.connect(target.path);
      socket.on("data", (data) => resolve(data.toString()));
      socket.on("error", reject);
    });
    expect(text).toBe("hello");
    await new Promise((resolve) => server.close(resolve));
  });

  it("refuses a symlink to a socket elsewhere", async () => {
    const server = net.createServer();
    await new Promise<void>((resolve) => server.listen(path.join(base, "host.sock"), resolve));
    fs.symlinkSync("../host.sock", path.join(base, "volume/s"));
    expect(
      hasCode(
        caught(() => openBeneath(root, "s", { expect: "socket" })),
        "HostPathUnsafe",
      ),
    ).toBe(true);
    await new Promise((resolve) => server.close(resolve));
  });
});

function caught(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

function childMkfifo(target: string): { status: number | null } {
  return spawnSync("mkfifo", [target]);
}
