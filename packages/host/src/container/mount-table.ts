import { sharedMounts, type ContainerMount, type ContainerSpec } from "./container-spec.ts";

/**
 * The mounts of a container as tables for `mount -a`: one process makes them all, which is most of what starting a
 * container costs. `stage` is for the time when the machine's root is still there, the others for afterwards.
 */
export interface MountTables {
  /** Devices, /sys, /proc, /run, masks, and every volume at a staging place. */
  readonly stage: string;
  /** Directories from their staging places to where the container sees them. */
  readonly directories: string;
  /** Files likewise; their mount points are made by the shim in between. */
  readonly files: string;
}

interface TableContext {
  /** The container's directory; its new root is at `root/root` below. */
  readonly directory: string;
  readonly rootless: boolean;
  /** Which of the masked directories and /proc entries this machine has. */
  readonly exists: (path: string) => boolean;
}

/** Entries of /proc that let root change the machine. */
const protectedProc = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"];

type Line = readonly [source: string, target: string, type: string, options: string];

export function mountTables(spec: ContainerSpec, context: TableContext): MountTables {
  const root = `${context.directory}/root/root`;
  const stage: Line[] = [
    ...deviceLines(spec, root, context.rootless),
    spec.hostPid ? ["/proc", `${root}/proc`, "none", "rbind"] : ["proc", `${root}/proc`, "proc", "nosuid,nodev,noexec"],
    ...(spec.privileged ? [] : protectedProc.filter(context.exists)).map((entry): Line => {
      return [`${root}${entry}`, `${root}${entry}`, "none", "bind,ro"];
    }),
    ["tmpfs", `${root}/run`, "tmpfs", "mode=755,nosuid,nodev"],
    ...spec.mounts.map((mount, index): Line => [
      sourceOf(spec, mount, context.directory),
      `${root}/.polyvirt/${index}`,
      "none",
      bindOptions(mount),
    ]),
    ...spec.maskedDirectories.filter(context.exists).map((mask): Line => {
      return ["tmpfs", `${root}${mask}`, "tmpfs", "ro,size=4k,mode=755"];
    }),
  ];
  // A bind of a read-only bind is read-only, too.
  const final = (kind: ContainerMount["kind"], options: string): Line[] =>
    spec.mounts.flatMap((mount, index): Line[] =>
      mount.kind === kind ? [[`/.polyvirt/${index}`, mount.target, "none", options]] : [],
    );
  return {
    stage: formatTable(stage),
    directories: formatTable(final("directory", "rbind,x-mount.mkdir")),
    files: formatTable(final("file", "bind")),
  };
}

function deviceLines(spec: ContainerSpec, root: string, rootless: boolean): Line[] {
  const all: Line[] = [
    ["/dev", `${root}/dev`, "none", "rbind"],
    ["/sys", `${root}/sys`, "none", "rbind"],
  ];
  if (spec.privileged) return all;
  const devices: Line = ["tmpfs", `${root}/dev`, "tmpfs", "mode=755,nosuid"];
  // Without being root, only all of what is mounted at a place can be bound elsewhere, and tables make no directories.
  if (rootless) return [devices, ["/sys", `${root}/sys`, "none", "rbind"]];
  return [
    devices,
    ["devpts", `${root}/dev/pts`, "devpts", "newinstance,ptmxmode=0666,mode=0620,x-mount.mkdir"],
    ["tmpfs", `${root}/dev/shm`, "tmpfs", "mode=1777,nosuid,nodev,x-mount.mkdir"],
    // A file system of its own shows the network interfaces of its own namespace.
    spec.networkNamespace === undefined
      ? ["/sys", `${root}/sys`, "none", "bind,ro"]
      : ["sysfs", `${root}/sys`, "sysfs", "ro,nosuid,nodev,noexec"],
  ];
}

/** What goes both ways was taken out of the machine's mounts before they became private. */
function sourceOf(spec: ContainerSpec, mount: ContainerMount, directory: string): string {
  return mount.propagation === "shared"
    ? `${directory}/root/shared-${sharedMounts(spec).indexOf(mount)}`
    : mount.source;
}

function bindOptions({ recursive, readOnly }: ContainerMount): string {
  return `${recursive ? "rbind" : "bind"}${readOnly ? ",ro" : ""}`;
}

function formatTable(lines: readonly Line[]): string {
  return lines.map((fields) => `${fields.map(escapeField).join(" ")} 0 0\n`).join("");
}

/** Everything that is not plainly harmless in a table is written as an octal number, byte by byte. */
function escapeField(text: string): string {
  return Array.from(Buffer.from(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[\w/.,=+@%:~-]/.test(character) ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  }).join("");
}
