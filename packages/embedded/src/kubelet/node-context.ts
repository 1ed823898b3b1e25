import type { Clock, Logger } from "@polyvirt/core";
import type { GroupTree } from "@polyvirt/host";
import type { ImageCatalogue } from "../images/image-catalogue.ts";
import type { DeviceManager } from "./devices/device-manager.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import type { NodePaths } from "./node-paths.ts";
import type { ApiAccess, EventSink } from "./ports.ts";
import type { ImageVolumes } from "../images/image-volumes.ts";

/** What everything that works on one node's pods shares. */
export interface NodeContext {
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly paths: NodePaths;
  readonly api: ApiAccess;
  readonly events: EventSink;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalogue: ImageCatalogue;
  readonly images: ImageVolumes;
  readonly network: Pick<PodNetwork, "attach" | "detach">;
  /** Control groups of the node's pods: one for each UID. */
  readonly groups: GroupTree;
  readonly devices: Pick<DeviceManager, "admit" | "prepareStart" | "release" | "keepOnly">;
  readonly allocatable: () => ReadonlyMap<string, number>;
  /** Where containers find the API server: KUBERNETES_SERVICE_HOST and _PORT. */
  readonly apiServer: { readonly host: string; readonly port: number };
  /** Directories of the machine that containers must not see: the cluster's own data. */
  readonly maskedDirectories: readonly string[];
  /** Files of the machine that every container must see: the installation. */
  readonly visiblePaths: readonly string[];
}
