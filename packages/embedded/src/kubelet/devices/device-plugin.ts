import { openBeneath, type OpenedPath } from "@polyvirt/host";
import {
  createGrpcClient,
  devicePluginV1beta1,
  openServerStream,
  type GrpcClient,
} from "@polyvirt/protocol/device-plugin";
import { errors } from "../../errors.ts";
import type { DeviceGrant, DeviceInfo } from "./device-pool.ts";

interface PluginOptions {
  readonly preStartRequired: boolean;
  readonly preferredAllocation: boolean;
}

const callMs = 10_000;

/**
 * A connection to one plug-in, by the socket that it named when it registered.
 * SAFETY: the name is one plain entry of the plug-in directory, opened without following symlinks, and the opened socket
 * is what is used: a plug-in cannot make the kubelet talk to a socket elsewhere.
 */
export class DevicePluginConnection {
  readonly resource: string;
  readonly #socket: OpenedPath;
  readonly #client: GrpcClient<typeof devicePluginV1beta1.DevicePlugin>;
  readonly #stop = new AbortController();
  #options: PluginOptions = { preStartRequired: false, preferredAllocation: false };

  constructor(resource: string, directory: OpenedPath, endpoint: string) {
    this.resource = resource;
    this.#socket = openBeneath(directory, endpoint, { expect: "socket" });
    const address = `unix:${this.#socket.path}`;
    this.#client = createGrpcClient(devicePluginV1beta1.DevicePlugin, address, { timeoutMs: callMs });
  }

  /** Tells of the devices until the plug-in ends or is closed. */
  async follow(onDevices: (devices: DeviceInfo[]) => void): Promise<void> {
    const options = await this.#client.getDevicePluginOptions({});
    this.#options = {
      preStartRequired: options.preStartRequired,
      preferredAllocation: options.getPreferredAllocationAvailable,
    };
    const { listAndWatch } = devicePluginV1beta1.DevicePlugin.method;
    for await (const { devices } of openServerStream(
      listAndWatch,
      `unix:${this.#socket.path}`,
      {},
      this.#stop.signal,
    )) {
      // Hints about NUMA nodes matter to a kubelet that pins processors and memory; ours, as Kubernetes' by default, does not.
      onDevices(devices.map(({ ID, health }) => ({ id: ID, healthy: health === "Healthy" })));
    }
  }

  /** Which of the free devices the plug-in would rather give; none when it does not care. */
  async preferred(free: readonly string[], count: number): Promise<string[]> {
    if (!this.#options.preferredAllocation) return [];
    const { containerResponses } = await this.#client.getPreferredAllocation({
      containerRequests: [{ availableDeviceIDs: [...free], mustIncludeDeviceIDs: [], allocationSize: count }],
    });
    return containerResponses[0]?.deviceIDs ?? [];
  }

  async allocate(deviceIds: readonly string[]): Promise<DeviceGrant> {
    const { containerResponses } = await this.#client.allocate({ containerRequests: [{ devicesIds: [...deviceIds] }] });
    const answer = containerResponses[0];
    if (containerResponses.length !== 1 || answer === undefined) {
      throw errors.KubeletDevicesMissing(
        `Allocate of ${this.resource} answered for ${containerResponses.length} containers instead of one`,
      );
    }
    const [cdi] = answer.cdiDevices;
    if (cdi !== undefined) {
      throw errors.KubeletDevicesMissing(
        `Allocate of ${this.resource} names the CDI device ${cdi.name}; this node takes device nodes, mounts and variables only`,
      );
    }
    return {
      resource: this.resource,
      deviceIds,
      environment: { ...answer.envs },
      annotations: { ...answer.annotations },
      mounts: answer.mounts.map(({ containerPath, hostPath, readOnly }) => ({
        containerPath,
        hostPath,
        readOnly,
      })),
      devices: answer.devices.map(({ containerPath, hostPath }) => ({ containerPath, hostPath })),
    };
  }

  async preStart(deviceIds: readonly string[]): Promise<void> {
    if (this.#options.preStartRequired) await this.#client.preStartContainer({ devicesIds: [...deviceIds] });
  }

  close(): void {
    this.#stop.abort();
    this.#client.close();
    this.#socket.close();
  }
}
