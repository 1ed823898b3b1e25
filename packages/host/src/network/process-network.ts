import * as fs from "node:fs";
import { errors } from "../errors.ts";
import { isAlive, type ProcessIdentity } from "../process-identity.ts";
import { runProgram } from "./run-program.ts";

/** The network namespace of a process, held open: it stays the same one, whatever becomes of the process. */
export interface ProcessNetwork {
  /** Tells namespaces apart: `device:inode`. */
  readonly id: string;
  /** What `ip -json` prints for these words, such as `addr show dev eth0`. */
  query(words: readonly string[]): Promise<unknown>;
  configure(change: NetworkChange): Promise<void>;
  close(): void;
}

/** Texts for programs that run in the namespace; made of checked parts by whoever plans the change. */
export interface NetworkChange {
  /** Lines for `ip -batch`. */
  readonly commands: string;
  /** Below /proc/sys: `net/ipv4/ip_forward` → `1`. Set after the commands, because some belong to new interfaces. */
  readonly settings: Readonly<Record<string, string>>;
  /** A script for `nft`; none when empty. */
  readonly rules: string;
}

/** Constant text; everything else arrives in the environment and is only ever printed into another program. */
const configureScript = `
set -eu
[ -z "$PV_COMMANDS" ] || printf '%s' "$PV_COMMANDS" | ip -batch -
printf '%s' "$PV_SETTINGS" | while read -r name value; do printf '%s' "$value" >"/proc/sys/$name"; done
[ -z "$PV_RULES" ] || printf '%s' "$PV_RULES" | nft -f -
`;

/**
 * SAFETY: the namespace is opened through the process id and the identity is checked afterwards, so it cannot be that of
 * another process which got the same id. The machine's own network is refused: a process that has no network of its own
 * never gets the machine's one changed. Programs run from this program's own file system; only the network is the other's.
 */
export function openProcessNetwork(identity: ProcessIdentity): ProcessNetwork {
  const fd = openNamespace(identity);
  const id = namespaceId(`/proc/self/fd/${fd}`);
  const foreign = id !== namespaceId("/proc/self/ns/net") && id !== machineNetworkId();
  if (!isAlive(identity) || !foreign) {
    fs.closeSync(fd);
    if (foreign) throw gone(identity);
    throw errors.HostNetworkShared(`configure the network of process ${identity.pid}: it has none of its own`);
  }
  const run = (program: string, args: readonly string[], environment = {}): Promise<string> =>
    runProgram("nsenter", {
      arguments: ["--net=/proc/self/fd/3", "--", program, ...args],
      environment,
      descriptor: fd,
    });
  return {
    id,
    async query(words) {
      const output = await run("ip", ["-json", ...words]);
      return JSON.parse(output.trim() === "" ? "[]" : output) as unknown;
    },
    async configure({ commands, settings, rules }) {
      const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
      await run("/bin/sh", ["-c", configureScript], {
        PV_COMMANDS: commands,
        PV_SETTINGS: lines.join(""),
        PV_RULES: rules,
      });
    },
    close: () => fs.closeSync(fd),
  };
}

function openNamespace(identity: ProcessIdentity): number {
  try {
    return fs.openSync(`/proc/${identity.pid}/ns/net`, "r");
  } catch (cause) {
    if (!isAlive(identity)) throw gone(identity);
    throw errors.HostCallFailed(`open the network of process ${identity.pid}`, { cause });
  }
}

function namespaceId(path: string): string {
  const { dev, ino } = fs.statSync(path);
  return `${dev}:${ino}`;
}

/** The network of the machine's first process; where that one is out of bounds, of the kernel's own threads. */
function machineNetworkId(): string {
  try {
    return namespaceId("/proc/1/ns/net");
  } catch (cause) {
    const isKernel = fs.readFileSync("/proc/2/stat", "utf8").startsWith("2 (kthreadd)");
    if (isKernel) return namespaceId("/proc/2/ns/net");
    throw errors.HostUnsupported("tell the machine's own network from others: its first process is not visible", {
      cause,
    });
  }
}

function gone(identity: ProcessIdentity): Error {
  return errors.HostProcessGone(`open the network of process ${identity.pid}: it has ended`);
}
