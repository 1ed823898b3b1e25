import { createServer, type Server, type Socket } from "node:net";
import { rmSync } from "node:fs";
import { peerCredentials, type OpenedPath } from "@polyvirt/host";
import {
  createGrpcClient,
  createGrpcServer,
  devicePluginV1beta1,
  grpcService,
  type GrpcServer,
} from "@polyvirt/protocol/device-plugin";
import { jsonEqual } from "@polyvirt/core";
import type { DeviceSource, OfferedDevice } from "./device-source.ts";

const VERSION = "v1beta1";
const REGISTER_MS = 5_000;
const KUBELET_SOCKET = "kubelet.sock";

export interface DevicePlugin {
  readonly resourceName: string;
  /** Looks at the devices again and tells the kubelet when they have changed. */
  refresh(): void;
  close(): Promise<void>;
}

/** Offers the devices of a source to the kubelet whose folder of plug-ins this is. */
export async function startDevicePlugin(source: DeviceSource, directory: OpenedPath): Promise<DevicePlugin> {
  const endpoint = socketName(source.resourceName);
  const state = { devices: source.list(), listeners: new Set<() => void>(), stopped: new AbortController() };
  const grpc = createGrpcServer([pluginService(source, state)]);
  const server = await listen(directory.child(endpoint), grpc);
  const close = async (): Promise<void> => {
    state.stopped.abort();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await grpc.close(0);
    await closed;
  };
  try {
    await register(directory, endpoint, source.resourceName);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    resourceName: source.resourceName,
    refresh() {
      const devices = source.list();
      if (jsonEqual(devices, state.devices)) return;
      state.devices = devices;
      for (const listener of state.listeners) listener();
    },
    close,
  };
}

/** `kubevirt-devices.kubevirt.io-kvm.sock`: one for each resource, also for one that an earlier virt-handler left. */
function socketName(resourceName: string): string {
  return `kubevirt-${resourceName.replaceAll(/[^A-Za-z0-9.-]/g, "-")}.sock`;
}

interface PluginState {
  devices: readonly OfferedDevice[];
  readonly listeners: Set<() => void>;
  readonly stopped: AbortController;
}

function pluginService(source: DeviceSource, state: PluginState) {
  return grpcService(devicePluginV1beta1.DevicePlugin, {
    getDevicePluginOptions: async () => ({}),
    async *listAndWatch(_request, { signal }) {
      const over = AbortSignal.any([signal, state.stopped.signal]);
      while (!over.aborted) {
        const sent = state.devices;
        yield { devices: sent.map(describeDevice) };
        if (sent === state.devices) await nextChange(state.listeners, over);
      }
    },
    allocate: async ({ containerRequests }) => ({
      containerResponses: containerRequests.map(({ devicesIds }) => {
        const { nodes, environment } = source.grant(devicesIds);
        return {
          envs: { ...environment },
          devices: nodes.map((path) => ({ hostPath: path, containerPath: path, permissions: "mrw" })),
        };
      }),
    }),
  });
}

function describeDevice({ id, healthy, numaNode }: OfferedDevice) {
  return {
    ID: id,
    health: healthy ? "Healthy" : "Unhealthy",
    ...(numaNode === undefined ? {} : { topology: { nodes: [{ ID: BigInt(numaNode) }] } }),
  };
}

function nextChange(listeners: Set<() => void>, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      listeners.delete(done);
      over.removeEventListener("abort", done);
      resolve();
    };
    listeners.add(done);
    over.addEventListener("abort", done, { once: true });
  });
}

function listen(path: string, grpc: GrpcServer): Promise<Server> {
  const server = createServer((socket) => accept(socket, grpc));
  return new Promise((resolve, reject) => {
    // An earlier virt-handler's socket: the folder is the kubelet's, and the name is ours.
    rmSync(path, { force: true });
    server.once("error", reject);
    server.listen({ path }, () => resolve(server));
  });
}

/** SAFETY: the kubelet is a program of our own user; nobody else decides which pod gets a device. */
function accept(socket: Socket, grpc: GrpcServer): void {
  socket.on("error", () => socket.destroy());
  if (peerCredentials(socket).uid === process.getuid?.()) grpc.accept(socket);
  else socket.destroy();
}

async function register(directory: OpenedPath, endpoint: string, resourceName: string): Promise<void> {
  const address = `unix:${directory.child(KUBELET_SOCKET)}`;
  const client = createGrpcClient(devicePluginV1beta1.Registration, address, { timeoutMs: REGISTER_MS });
  try {
    await client.register({ version: VERSION, endpoint, resourceName, options: {} });
  } finally {
    client.close();
  }
}

/** Changes when another kubelet has taken over, or when it has cleared its folder and our socket with it. */
export function registrationMark(
  stat: (path: string) => { ino: number; ctimeMs: number } | undefined,
  directory: OpenedPath,
  resourceName: string,
): string | undefined {
  const kubelet = stat(directory.child(KUBELET_SOCKET));
  const own = stat(directory.child(socketName(resourceName)));
  if (kubelet === undefined || own === undefined) return undefined;
  return [kubelet.ino, kubelet.ctimeMs, own.ino].join("/");
}
