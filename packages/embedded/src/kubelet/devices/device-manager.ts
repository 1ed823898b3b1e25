import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import type { Container, Pod } from "@polyvirt/api/k8s";
import { describeError, type Clock, type Logger, type Timer } from "@polyvirt/core";
import { openTrustedDirectory, peerCredentials, type OpenedPath } from "@polyvirt/host";
import { createGrpcServer, devicePluginV1beta1, grpcService, type GrpcServer } from "@polyvirt/protocol/device-plugin";
import { errors } from "../../errors.ts";
import { amountsOf } from "../../scheduler/resource-amount.ts";
import { chooseDevices, DevicePool, grantsFromJson, type DeviceGrant } from "./device-pool.ts";
import { DevicePluginConnection } from "./device-plugin.ts";

interface DeviceManagerOptions {
  /** What plug-ins see as /var/lib/kubelet/device-plugins. */
  readonly directory: string;
  /** Who has which device, for the next kubelet. */
  readonly recordFile: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The node offers something else than before. */
  readonly onChange: () => void;
}

const socketName = "kubelet.sock";
const apiVersion = "v1beta1";
/** As Kubernetes: resources of a plug-in that does not come back are forgotten after this. */
const forgetMs = 300_000;
/** Prefixes of resources that are Kubernetes' own. */
const nativePrefix = "kubernetes.io/";
const resourceName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** The kubelet's side of the device plug-in API: registration, devices, and who gets which. */
export class DeviceManager {
  readonly #options: DeviceManagerOptions;
  readonly #pool: DevicePool;
  readonly #plugins = new Map<string, DevicePluginConnection>();
  readonly #forgetting = new Map<string, Timer>();
  #directory: OpenedPath | undefined;
  #server: { grpc: GrpcServer; sockets: net.Server } | undefined;

  constructor(options: DeviceManagerOptions) {
    this.#options = options;
    this.#pool = new DevicePool(grantsFromJson(readText(options.recordFile)));
  }

  /** Opens the socket for registrations. Plug-ins watch for it and register again with a new kubelet. */
  async start(): Promise<void> {
    const { directory } = this.#options;
    fs.mkdirSync(directory, { recursive: true, mode: 0o755 });
    for (const name of fs.readdirSync(directory))
      fs.rmSync(path.join(directory, name), { recursive: true, force: true });
    const opened = openTrustedDirectory(directory);
    this.#directory = opened;
    const registration = grpcService(devicePluginV1beta1.Registration, {
      register: async (request) => {
        this.#register(request.version, request.endpoint, request.resourceName);
        return {};
      },
    });
    const grpc = createGrpcServer([registration]);
    const sockets = net.createServer((socket) => this.#accept(socket, grpc));
    await new Promise<void>((resolve, reject) => {
      sockets.once("error", reject);
      // Through the opened directory the name is short enough for a socket, wherever the node's folder is.
      sockets.listen(opened.child(socketName), resolve);
    });
    this.#server = { grpc, sockets };
  }

  async stop(): Promise<void> {
    for (const plugin of this.#plugins.values()) plugin.close();
    this.#plugins.clear();
    for (const timer of this.#forgetting.values()) timer.cancel();
    await this.#server?.grpc.close(0);
    await new Promise((resolve) => (this.#server === undefined ? resolve(0) : this.#server.sockets.close(resolve)));
    this.#directory?.close();
  }

  amounts(): ReadonlyMap<string, { capacity: number; allocatable: number }> {
    return this.#pool.amounts();
  }

  /** Gives each container of a pod the devices that it asks for. What it already has, it keeps. */
  async admit(pod: Pod): Promise<void> {
    const uid = pod.metadata.uid ?? "";
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      for (const [resource, count] of amountsOf(container.resources?.limits)) {
        if (!this.#pool.isManaged(resource) || count === 0) continue;
        const has = this.#pool.grantsOf(uid, container.name).some((grant) => grant.resource === resource);
        if (!has) this.#pool.give(uid, container.name, await this.#allocate(resource, count));
      }
    }
    this.#save();
  }

  /** Before each start of a container: what its devices add to it. */
  async prepareStart(pod: Pod, container: Container): Promise<readonly DeviceGrant[]> {
    const grants = this.#pool.grantsOf(pod.metadata.uid ?? "", container.name);
    for (const grant of grants) await this.#plugins.get(grant.resource)?.preStart(grant.deviceIds);
    return grants;
  }

  release(podUid: string): void {
    if (this.#pool.takeBack(podUid)) this.#save();
  }

  /** Takes devices back from pods that are gone. */
  keepOnly(podUids: ReadonlySet<string>): void {
    for (const uid of this.#pool.holders()) if (!podUids.has(uid)) this.release(uid);
  }

  async #allocate(resource: string, count: number): Promise<DeviceGrant> {
    const plugin = this.#plugins.get(resource);
    const free = this.#pool.free(resource);
    const preferred = plugin === undefined || free.length < count ? [] : await plugin.preferred(free, count);
    const chosen = chooseDevices(count, this.#pool.free(resource), preferred);
    if (plugin === undefined || chosen === undefined) {
      throw errors.KubeletDevicesMissing(
        `Allocate failed due to requested number of devices unavailable for ${resource}. Requested: ${count}, Available: ${free.length}, which is unexpected`,
      );
    }
    return plugin.allocate(chosen);
  }

  /** SAFETY: only programs of the kubelet's own user may offer devices; the kernel says who is at the other end. */
  #accept(socket: net.Socket, grpc: GrpcServer): void {
    socket.on("error", () => socket.destroy());
    if (peerCredentials(socket).uid === (process.getuid?.() ?? 0)) return grpc.accept(socket);
    this.#options.logger.warn("a program of another user tried to register a device plug-in");
    socket.destroy();
  }

  #register(version: string, endpoint: string, resource: string): void {
    const refuse = (why: string): Error =>
      errors.KubeletDevicePluginRefused(`register device plug-in ${resource}: ${why}`);
    if (version !== apiVersion) throw refuse(`its version is ${version}, this kubelet speaks ${apiVersion}`);
    if (!resourceName.test(resource) || resource.includes(nativePrefix))
      throw refuse("that is no name for an extended resource");
    if (this.#directory === undefined) throw refuse("the kubelet is stopping");
    const plugin = new DevicePluginConnection(resource, this.#directory, endpoint);
    // A plug-in that registers again replaces itself.
    this.#plugins.get(resource)?.close();
    this.#plugins.set(resource, plugin);
    this.#forgetting.get(resource)?.cancel();
    this.#forgetting.delete(resource);
    this.#options.logger.info("a device plug-in registered", { resource, endpoint });
    void this.#follow(plugin);
  }

  async #follow(plugin: DevicePluginConnection): Promise<void> {
    const { logger, clock, onChange } = this.#options;
    const { resource } = plugin;
    const isCurrent = (): boolean => this.#plugins.get(resource) === plugin;
    try {
      await plugin.follow((devices) => {
        if (!isCurrent()) return;
        this.#pool.setDevices(resource, devices);
        onChange();
      });
    } catch (error) {
      if (isCurrent()) logger.warn("a device plug-in is gone", { resource, error: describeError(error) });
    }
    if (!isCurrent()) return;
    plugin.close();
    this.#plugins.delete(resource);
    this.#pool.disconnect(resource);
    onChange();
    const forget = (): void => {
      this.#pool.forget(resource);
      onChange();
    };
    this.#forgetting.set(resource, clock.setTimer(forgetMs, forget));
  }

  #save(): void {
    const { recordFile } = this.#options;
    fs.writeFileSync(`${recordFile}.new`, JSON.stringify(this.#pool.toJson()), { mode: 0o600 });
    fs.renameSync(`${recordFile}.new`, recordFile);
  }
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    // The first kubelet of this node.
    return "";
  }
}
