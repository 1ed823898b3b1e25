import { describe, expect, it } from "vitest";
import type { ContainerSpec } from "./container-spec.ts";
import { mountTables } from "./mount-table.ts";

const spec: ContainerSpec = {
  command: [],
  environment: new Map(),
  workingDirectory: "/",
  mounts: [
    { source: "/v", target: "/data", kind: "directory", readOnly: true, recursive: false },
    { source: "/f", target: "/etc/hosts", kind: "file", readOnly: false, recursive: false },
    { source: "/h", target: "/host", kind: "directory", readOnly: false, recursive: true },
  ],
  maskedDirectories: ["/secret", "/missing"],
  visiblePaths: [],
  privileged: false,
  hostPid: false,
  input: false,
  terminal: false,
  readOnlyRoot: false,
  credentials: { uid: 0, gid: 0, groups: [], noNewPrivileges: false },
  groupName: "",
  limits: {},
};
const context = {
  directory: "/c",
  rootless: false,
  exists: (path: string) => path !== "/missing" && path !== "/proc/irq",
};

describe("mountTables", () => {
  it("is complete for an ordinary container, in order", () => {
    const { stage, directories, files } = mountTables(spec, context);
    expect(stage.split("\n")).toEqual([
      "tmpfs /c/root/root/dev tmpfs mode=755,nosuid 0 0",
      "devpts /c/root/root/dev/pts devpts newinstance,ptmxmode=0666,mode=0620,x-mount.mkdir 0 0",
      "tmpfs /c/root/root/dev/shm tmpfs mode=1777,nosuid,nodev,x-mount.mkdir 0 0",
      "/sys /c/root/root/sys none bind,ro 0 0",
      "proc /c/root/root/proc proc nosuid,nodev,noexec 0 0",
      "/c/root/root/proc/sys /c/root/root/proc/sys none bind,ro 0 0",
      "/c/root/root/proc/sysrq-trigger /c/root/root/proc/sysrq-trigger none bind,ro 0 0",
      "/c/root/root/proc/bus /c/root/root/proc/bus none bind,ro 0 0",
      "tmpfs /c/root/root/run tmpfs mode=755,nosuid,nodev 0 0",
      "/v /c/root/root/.polyvirt/0 none bind,ro 0 0",
      "/f /c/root/root/.polyvirt/1 none bind 0 0",
      "/h /c/root/root/.polyvirt/2 none rbind 0 0",
      "tmpfs /c/root/root/secret tmpfs ro,size=4k,mode=755 0 0",
      "",
    ]);
    expect(directories).toBe(
      "/.polyvirt/0 /data none rbind,x-mount.mkdir 0 0\n/.polyvirt/2 /host none rbind,x-mount.mkdir 0 0\n",
    );
    expect(files).toBe("/.polyvirt/1 /etc/hosts none bind 0 0\n");
  });

  it("shows the machine to a privileged container with the machine's process ids", () => {
    const { stage } = mountTables(
      { ...spec, privileged: true, hostPid: true, mounts: [], maskedDirectories: [] },
      context,
    );
    expect(
      stage
        .split("\n")
        .slice(0, -1)
        .map((line) => line.split(" ")[0]),
    ).toEqual(["/dev", "/sys", "/proc", "tmpfs"]);
  });

  it.each([
    ["/a b", "/a\\040b"],
    ["/a\nb /etc none bind 0 0", "/a\\012b\\040/etc\\040none\\040bind\\0400\\0400"],
    ["/a\\040b", "/a\\134040b"],
    ["/#x", "/\\043x"],
    ["/ä", "/\\303\\244"],
    ["/plain-1.0_x", "/plain-1.0_x"],
  ])("writes the path %j as %s", (path, escaped) => {
    const mounts = [{ source: path, target: path, kind: "file", readOnly: false, recursive: false } as const];
    const tables = mountTables({ ...spec, mounts, maskedDirectories: [] }, context);
    expect(tables.files).toBe(`/.polyvirt/0 ${escaped} none bind 0 0\n`);
    expect(tables.stage).toContain(`${escaped} /c/root/root/.polyvirt/0 none bind 0 0\n`);
  });
});
