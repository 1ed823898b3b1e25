import type { ProcessIdentity } from "../process-identity.ts";
import type { ResourceLimits } from "./cgroup-plan.ts";

/** What the kubelet asks for: one container, as a process of this machine. Plain data; no Kubernetes words. */
export interface ContainerSpec {
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly workingDirectory: string;
  /** Own name for the container; the machine's when missing. */
  readonly hostname?: string;
  /** In the order of mounting: a parent before what is mounted inside of it. */
  readonly mounts: readonly ContainerMount[];
  /** Device nodes that the container gets in its own /dev; a privileged one has all of them anyway. */
  readonly devices?: readonly ContainerDevice[];
  /** Directories of the machine that the container sees empty. */
  readonly maskedDirectories: readonly string[];
  /** Files of the machine that the container must see even when they are on another file system than `/`. */
  readonly visiblePaths: readonly string[];
  /** All devices, writable /sys and /proc, every capability. */
  readonly privileged: boolean;
  /** Shares the machine's process ids instead of having its own. */
  readonly hostPid: boolean;
  /** Lives in the process namespace of this process instead of one of its own. */
  readonly processNamespace?: ProcessIdentity;
  /** Standard input that others can write to while it runs; empty without. */
  readonly input: boolean;
  /** Input, output and errors are one terminal. */
  readonly terminal: boolean;
  readonly readOnlyRoot: boolean;
  /** Path of the network namespace that the container lives in; the machine's own network when missing. */
  readonly networkNamespace?: string;
  readonly credentials: ContainerCredentials;
  /** Unique among all containers of the machine; may have slashes to group them. */
  readonly groupName: string;
  readonly limits: ResourceLimits;
}

export interface ContainerMount {
  readonly source: string;
  readonly target: string;
  readonly kind: "directory" | "file";
  readonly readOnly: boolean;
  /** Also what is mounted below the source. */
  readonly recursive: boolean;
  /**
   * What is mounted below the source later: `slave` shows it to the container as well, `shared` shows the machine also
   * what the container mounts there. The source has to be a shared mount.
   */
  readonly propagation?: "slave" | "shared";
  /** `device:inode` that the source has to have, for sources that were opened without following symlinks. */
  readonly inode?: string;
}

/** Copied, not bound: the container's node can be given to the container's user without changing the machine's. */
export interface ContainerDevice {
  readonly source: string;
  /** Below /dev. */
  readonly target: string;
}

export interface ContainerCredentials {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** Names without CAP_, in lower case; undefined keeps what the kubelet has. */
  readonly capabilities?: readonly string[];
  readonly noNewPrivileges: boolean;
}

interface ShimContext {
  readonly directory: string;
  readonly innerScript: string;
  readonly rootless: boolean;
  readonly lowers: readonly string[];
  readonly groups: readonly string[];
}

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The environment of the outer shim: see `shim-script.ts` for what each variable does. */
export function shimEnvironment(spec: ContainerSpec, context: ShimContext): Record<string, string> {
  return {
    ...commandEnvironment(spec),
    ...numbered("LOWER", "LOWERS", context.lowers),
    ...numbered(
      "SHARE",
      "SHARES",
      sharedMounts(spec).map(({ source }) => source),
    ),
    ...numbered("GROUP", "GROUPS", context.groups),
    ...numbered("DEVICE", "DEVICES", spec.privileged ? [] : (spec.devices ?? []).map(({ source }) => source)),
    ...numbered(
      "DEVICE_TARGET",
      "DEVICE_TARGETS",
      (spec.devices ?? []).map(({ target }) => target),
    ),
    PV_DIR: context.directory,
    PV_INNER: context.innerScript,
    PV_ROOTLESS: flag(context.rootless),
    PV_PRIVILEGED: flag(spec.privileged),
    // Taking a terminal over from the shim's session is for root alone.
    PV_SESSION: flag(spec.terminal && !context.rootless),
    PV_READ_ONLY: flag(spec.readOnlyRoot),
    PV_HOSTNAME: spec.hostname ?? "",
    PV_WORKDIR: spec.workingDirectory,
    PV_MOUNTS: String(spec.mounts.length),
    ...Object.fromEntries(spec.mounts.flatMap(mountVariables)),
  };
}

/** The part that `exec` into a running container needs as well. */
export function commandEnvironment(
  spec: Pick<ContainerSpec, "command" | "environment" | "credentials" | "privileged">,
  setprivArguments: readonly string[] = [],
): Record<string, string> {
  return {
    ...numbered("ARG", "ARGS", spec.command),
    ...numbered(
      "ENV",
      "ENVS",
      [...spec.environment].map(([name, value]) => `${name}=${value}`),
    ),
    ...numbered("CREDENTIAL", "CREDENTIALS", credentialCommand(spec, setprivArguments)),
    PV_PATH: spec.environment.get("PATH") ?? defaultPath,
  };
}

/** Arguments of `unshare` for the shim: it does not fork, so only the shim's children are in a new process namespace. */
export function unshareFlags(spec: ContainerSpec, rootless: boolean): string[] {
  return [
    ...(rootless ? ["--user", "--map-root-user"] : []),
    "--mount",
    "--propagation",
    propagationOf(spec),
    ...(spec.hostname === undefined ? [] : ["--uts"]),
    ...(spec.hostPid || spec.processNamespace !== undefined ? [] : ["--pid"]),
  ];
}

function propagationOf({ mounts }: ContainerSpec): string {
  if (mounts.some(({ propagation }) => propagation === "shared")) return "unchanged";
  return mounts.some(({ propagation }) => propagation === "slave") ? "slave" : "private";
}

/** Volumes whose mounts go both ways, in the order in which the shim stages them. */
export function sharedMounts({ mounts }: Pick<ContainerSpec, "mounts">): ContainerMount[] {
  return mounts.filter(({ propagation }) => propagation === "shared");
}

/** `setpriv` and its arguments, or nothing when the container keeps everything that the kubelet has. */
function credentialCommand(spec: Pick<ContainerSpec, "credentials" | "privileged">, more: readonly string[]): string[] {
  const { capabilities, noNewPrivileges } = spec.credentials;
  // A program that is not root has one user to give away: its own, which is root inside.
  const { uid, gid, groups } = process.getuid?.() === 0 ? spec.credentials : { uid: 0, gid: 0, groups: [] };
  const arguments_ = [...more];
  if (uid !== 0 || gid !== 0 || groups.length > 0) {
    arguments_.push(`--reuid=${uid}`, `--regid=${gid}`);
    arguments_.push(groups.length > 0 ? `--groups=${groups.join(",")}` : "--clear-groups");
  }
  if (capabilities !== undefined && !spec.privileged) {
    const list = ["-all", ...capabilities.map((name) => `+${name}`)].join(",");
    arguments_.push(`--bounding-set=${list}`, `--inh-caps=-all`);
  }
  if (noNewPrivileges) arguments_.push("--no-new-privs");
  return arguments_.length === 0 ? [] : ["setpriv", ...arguments_, "--"];
}

function mountVariables(mount: ContainerMount, index: number): [string, string][] {
  const prefix = `PV_MOUNT_${index}`;
  return [
    [`${prefix}_SOURCE`, mount.source],
    [`${prefix}_TARGET`, mount.target],
    [`${prefix}_KIND`, mount.kind],
    [`${prefix}_INODE`, mount.inode ?? ""],
  ];
}

function numbered(singular: string, plural: string, values: readonly string[]): Record<string, string> {
  const entries = values.map((value, index): [string, string] => [`PV_${singular}_${index}`, value]);
  return { [`PV_${plural}`]: String(values.length), ...Object.fromEntries(entries) };
}

function flag(value: boolean): string {
  return value ? "1" : "0";
}
