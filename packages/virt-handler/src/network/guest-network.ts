import type { VirtualMachineInstance } from "@polyvirt/api";
import { hasCode, type Logger } from "@polyvirt/core";
import { grantDevice, openProcessNetwork, tunDevice, type ProcessIdentity, type ProcessNetwork } from "@polyvirt/host";
import { planInterface, podInterface, undoCommands } from "./interface-plan.ts";
import type { NetworkRecord, NetworkRecords } from "./network-records.ts";
import { linkNames, readPodInterface } from "./pod-interface.ts";
import type { PreparedInterface } from "./prepared-interface.ts";

/** The process that runs in a launcher pod, as the kernel names it. */
export interface LauncherProcess {
  readonly identity: ProcessIdentity;
  readonly uid: number;
  readonly gid: number;
}

export interface GuestNetworkDeps {
  readonly records: NetworkRecords;
  readonly logger: Logger;
  readonly openNetwork?: (identity: ProcessIdentity) => ProcessNetwork;
  readonly grantTun?: (launcher: LauncherProcess) => void;
}

/** Prepares launcher pods' networks for their guests. */
export interface GuestNetwork {
  /**
   * Connects the VMI's interfaces to the network of its launcher's pod. What is prepared already is left alone, so that a
   * running guest notices nothing. Empty when the pod has no network of its own, or the VMI no interface that needs it.
   */
  prepare(
    vmi: VirtualMachineInstance,
    podUid: string,
    launcher: LauncherProcess | undefined,
  ): Promise<PreparedInterface[]>;
  /** The pod is over; its network went with it. */
  forget(podUid: string): void;
}

export function createGuestNetwork(deps: GuestNetworkDeps): GuestNetwork {
  const { records, logger, openNetwork = openProcessNetwork, grantTun = grantTunDevice } = deps;
  return {
    async prepare(vmi, podUid, launcher) {
      const iface = podInterface(vmi);
      if (iface === undefined || launcher === undefined) return [];
      const network = openUnlessShared(openNetwork, launcher.identity);
      if (network === undefined) return [];
      try {
        const known = records.get(podUid);
        if (known?.networkId === network.id && known.prepared !== undefined) return [known.prepared];
        const begun = known?.networkId === network.id ? known : await observe(network);
        if (begun === known) await undo(network, begun);
        records.put(podUid, begun);
        const { change, prepared } = planInterface(vmi, iface, { pod: begun.pod, launcher });
        if (prepared.tapName !== undefined) grantTun(launcher);
        await network.configure(change);
        records.put(podUid, { ...begun, prepared });
        logger.info("connected a guest", { vmi: vmi.metadata.name, interface: iface.name, pod: podUid });
        return [prepared];
      } finally {
        network.close();
      }
    },
    forget: (podUid) => records.remove(podUid),
  };
}

function openUnlessShared(
  open: (identity: ProcessIdentity) => ProcessNetwork,
  identity: ProcessIdentity,
): ProcessNetwork | undefined {
  try {
    return open(identity);
  } catch (error) {
    if (hasCode(error, "HostNetworkShared")) return undefined;
    throw error;
  }
}

async function observe(network: ProcessNetwork): Promise<NetworkRecord> {
  // Two programs side by side: somebody waits for the guest.
  const [links, routes] = await Promise.all([network.query(["addr", "show"]), network.query(["-4", "route", "show"])]);
  return { networkId: network.id, pod: readPodInterface(links, routes) };
}

/** An earlier virt-handler ended in the middle of it. */
async function undo(network: ProcessNetwork, { pod }: NetworkRecord): Promise<void> {
  const commands = undoCommands(pod, linkNames(await network.query(["link", "show"])));
  if (commands !== "") await network.configure({ commands, settings: {}, rules: "" });
}

function grantTunDevice({ identity, uid, gid }: LauncherProcess): void {
  grantDevice(identity, tunDevice, { uid, gid });
}
