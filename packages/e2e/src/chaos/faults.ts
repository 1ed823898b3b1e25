import type { TestCluster } from "../cluster.ts";
import type { ProcessInfo } from "../processes.ts";
import * as who from "../who.ts";

export interface Fault {
  readonly name: string;
  /** The processes that it may hit; `guest` is one that was picked from those that may be hit. */
  victims(processes: readonly ProcessInfo[], guest: string): ProcessInfo[];
  /** Whether the picked guest ends by it. Every other guest must not notice. */
  readonly endsGuest: boolean;
  /** What a person does about it; nothing where the system heals itself. */
  readonly repair?: (cluster: TestCluster) => Promise<unknown>;
}

const matching = (pattern: RegExp) => (processes: readonly ProcessInfo[]) =>
  processes.filter((info) => pattern.test(info.commandLine));

/** kill -9, one kind of process at a time. */
export const faults: readonly Fault[] = [
  { name: "QEMU", endsGuest: true, victims: (processes, guest) => matching(who.qemuOf(guest))(processes) },
  { name: "virt-launcher", endsGuest: true, victims: (processes, guest) => matching(who.launcherOf(guest))(processes) },
  { name: "the libvirt daemon", endsGuest: false, victims: libvirtDaemonOf },
  { name: "virt-handler", endsGuest: false, victims: matching(who.isHandler) },
  { name: "virt-controller", endsGuest: false, victims: matching(who.isController) },
  { name: "virt-api", endsGuest: false, victims: matching(who.isApi) },
  { name: "virt-operator", endsGuest: false, victims: matching(who.isOperator) },
  {
    name: "the API server",
    endsGuest: false,
    victims: matching(who.isCluster),
    repair: (cluster) => cluster.up(),
  },
];

/** The daemon that the guest's launcher started: there is one for each guest. */
function libvirtDaemonOf(processes: readonly ProcessInfo[], guest: string): ProcessInfo[] {
  const byPid = new Map(processes.map((info) => [info.pid, info]));
  const belongs = (info: ProcessInfo): boolean => {
    for (let at: ProcessInfo | undefined = info; at !== undefined; at = byPid.get(at.parent))
      if (who.launcherOf(guest).test(at.commandLine)) return true;
    return false;
  };
  return matching(who.isLibvirtDaemon)(processes).filter(belongs);
}
