import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Clock, Logger } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import { parseArchitecture, type Architecture, type Hypervisor } from "@polyvirt/hypervisor";
import type { cmdV1 } from "@polyvirt/protocol";
import { hasEnded, requirePart, type Stack } from "@polyvirt/stack";
import { FileGuard } from "../disks/file-guard.ts";
import { prepareVolumes } from "../disks/prepare-volumes.ts";
import type { ImageMaker } from "../disks/qemu-img.ts";
import type { LauncherOptions } from "../launcher-options.ts";
import type { LauncherPaths } from "../launcher-paths.ts";
import type { GuestNetwork } from "../network/guest-network.ts";
import { converterContext, guestDirectory } from "./converter-context.ts";
import {
  diskName,
  disksAlone,
  keepVolumes,
  planDisks,
  presentLocations,
  withoutAbsentVolumes,
} from "./hotplug-disks.ts";
import type { DomainHooks, HookRequest } from "./domain-hooks.ts";
import { prepareFirmware } from "./firmware.ts";
import { planInterfaces } from "./hotplug-interfaces.ts";
import { withHotplugPorts } from "./hotplug-ports.ts";
import { requirePersistentState } from "./persistent-state.ts";
import { awaitSharedFolders } from "./shared-folders.ts";

export interface MachineDependencies {
  readonly stack: Stack;
  readonly hypervisor: Pick<Hypervisor, "converter" | "node">;
  readonly hooks: DomainHooks;
  readonly images: ImageMaker;
  readonly network: GuestNetwork;
  readonly options: LauncherOptions;
  readonly paths: LauncherPaths;
  readonly hostArchitecture: Architecture;
  /** The running machine has got other devices. */
  readonly onChange: () => void;
  readonly clock: Pick<Clock, "monotonic">;
  readonly logger: Logger;
}

/** A guest is given this long to let go of a device before it is asked again; asking twice at a time confuses libvirt. */
const unplugMs = 10_000;

/** Brings the one machine of this launcher to what its VMI says. */
export class Machine {
  readonly #dependencies: MachineDependencies;
  #starting: Promise<void> | undefined;
  /** Changes of the running machine, one after the other. */
  #changing: Promise<void> = Promise.resolve();
  /** When the guest was asked to let go of a device, by its alias. */
  #askedAt = new Map<string, number>();

  constructor(dependencies: MachineDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Starts the machine if and only if it has never run: a guest that has ended stays ended, and the node agent draws the
   * conclusions. Calls that come while it starts wait for the same start; a start that failed is tried again. One that runs
   * gets the disks that have come and loses disks and network cards that are not wanted any more; asked again, it does
   * nothing.
   */
  async sync(vmi: VirtualMachineInstance, options: cmdV1.VirtualMachineOptions | undefined): Promise<void> {
    if (this.#dependencies.stack.lifecycle.domain() !== undefined && this.#starting === undefined) {
      const change = this.#changing.then(() => this.#change(vmi, options));
      this.#changing = change.catch(() => undefined);
      return change;
    }
    this.#starting ??= this.#start(vmi, options).finally(() => (this.#starting = undefined));
    await this.#starting;
  }

  /** Forgets the machine once it has ended; one that runs is left alone. */
  async forget(): Promise<void> {
    const { lifecycle } = this.#dependencies.stack;
    const domain = lifecycle.domain();
    if (domain !== undefined && hasEnded(domain.status)) await lifecycle.forget();
  }

  /** Makes everything ready for the machine to come from another launcher, which connects to the socket. */
  async receive(
    vmi: VirtualMachineInstance,
    options: cmdV1.VirtualMachineOptions | undefined,
    socketPath: string,
  ): Promise<void> {
    const { stack } = this.#dependencies;
    if (stack.lifecycle.domain() !== undefined && this.#starting === undefined) return;
    this.#starting ??= this.#receive(vmi, options, socketPath).finally(() => (this.#starting = undefined));
    await this.#starting;
  }

  async #receive(
    vmi: VirtualMachineInstance,
    options: cmdV1.VirtualMachineOptions | undefined,
    socketPath: string,
  ): Promise<void> {
    const migration = requirePart(this.#dependencies.stack, "migration", "receive the machine");
    await mkdir(dirname(socketPath), { recursive: true });
    const { domain, guard } = await this.#define(vmi, options, "MigrationTarget");
    const allowPostCopy = vmi.status?.migrationState?.migrationConfiguration?.allowPostCopy === true;
    await this.#guarded(guard, () => migration.receive(domain, socketPath, { allowPostCopy }));
  }

  async #start(vmi: VirtualMachineInstance, options: cmdV1.VirtualMachineOptions | undefined): Promise<void> {
    const { stack, logger } = this.#dependencies;
    const { domain, guard } = await this.#define(vmi, options, "Boot");
    logger.info("starting the machine", { domain: domain.name, type: domain.type });
    const paused = vmi.spec.startStrategy === "Paused";
    await this.#guarded(guard, () => stack.lifecycle.start(domain, { paused }));
  }

  async #change(vmi: VirtualMachineInstance, options: cmdV1.VirtualMachineOptions | undefined): Promise<void> {
    const { stack, paths } = this.#dependencies;
    const domain = stack.lifecycle.domain();
    if (domain === undefined || hasEnded(domain.status)) return;
    const { attach, detach } = planDisks(vmi, domain.definition, paths.hotplugDisks);
    const cards = planInterfaces(vmi, domain.definition);
    const failures: unknown[] = [];
    const attempt = async (change: () => Promise<void>): Promise<void> => {
      await change().catch((error: unknown) => failures.push(error));
    };
    // All of them before any new one: they may need the same places.
    const leaving = [...detach, ...cards.detach];
    for (const name of this.#toAsk(leaving)) {
      await attempt(() => this.#unplug(name, detach.includes(name) ? "detachDisk" : "detachInterface"));
    }
    for (const name of attach) await attempt(() => this.#attachDisk(vmi, options, name));
    for (const { name, up } of cards.links) {
      await attempt(() => requirePart(stack, "hotplug", `change the link of ${name}`).setLink(`ua-${name}`, up));
    }
    // One that cannot be attached keeps nobody else waiting; it is told, and tried again.
    if (failures.length > 0) throw failures[0];
  }

  async #unplug(name: string, unplug: "detachDisk" | "detachInterface"): Promise<void> {
    const hotplug = requirePart(this.#dependencies.stack, "hotplug", `detach ${name}`);
    try {
      await hotplug[unplug](`ua-${name}`);
    } catch (error) {
      this.#askedAt.delete(name);
      throw error;
    }
  }

  /** Those of the devices that are to go which the guest has not been asked about just now. */
  #toAsk(names: readonly string[]): string[] {
    const now = this.#dependencies.clock.monotonic();
    const asked = names.map((name): [string, number] => {
      const before = this.#askedAt.get(name);
      return [name, before === undefined || now - before >= unplugMs ? now : before];
    });
    const due = asked.filter(([name, at]) => this.#askedAt.get(name) !== at).map(([name]) => name);
    // What is gone is forgotten, so that a device of the same name starts anew.
    this.#askedAt = new Map(asked);
    return due;
  }

  async #attachDisk(
    vmi: VirtualMachineInstance,
    options: cmdV1.VirtualMachineOptions | undefined,
    name: string,
  ): Promise<void> {
    const { stack, hypervisor, paths, images, logger, onChange } = this.#dependencies;
    const hotplug = requirePart(stack, "hotplug", `attach disk ${name}`);
    const definition = stack.lifecycle.domain()?.definition ?? {};
    const present = presentLocations(definition);
    const guard = new FileGuard();
    const added = await prepareVolumes(
      keepVolumes(vmi, (volume) => volume === name),
      { paths, images, guard },
    );
    const taking = keepVolumes(vmi, (volume) => volume === name || volume in present);
    const alone = disksAlone(taking, definition);
    const nowhere = { podNetwork: "user", interfaces: {} } as const;
    const prepared = { volumes: { ...present, ...added }, network: nowhere, firmware: {} };
    const converted = hypervisor.converter.convert(
      alone,
      converterContext(alone, options, prepared, this.#dependencies),
    );
    const disk = converted.devices?.disks?.find((found) => diskName(found) === name);
    if (disk === undefined) return;
    logger.info("attaching a disk", { disk: name });
    await hotplug.attachDisk(disk);
    onChange();
    try {
      guard.verify();
    } catch (error) {
      await hotplug.detachDisk(`ua-${name}`);
      throw error;
    }
  }

  /** Brings the machine up; when a file was exchanged meanwhile, it goes away again. */
  async #guarded(guard: FileGuard, bringUp: () => Promise<void>): Promise<void> {
    await bringUp();
    try {
      guard.verify();
    } catch (error) {
      await this.#dependencies.stack.lifecycle.kill();
      throw error;
    }
  }

  /** The machine that the VMI describes, with everything that it needs in place. */
  async #define(
    given: VirtualMachineInstance,
    options: cmdV1.VirtualMachineOptions | undefined,
    invocation: HookRequest["invocation"],
  ): Promise<{ domain: Domain; guard: FileGuard }> {
    const { hypervisor, hooks, paths, images } = this.#dependencies;
    const vmi = withoutAbsentVolumes(given);
    const folder = guestDirectory(this.#dependencies.options, paths);
    await mkdir(folder, { recursive: true });
    requirePersistentState(vmi, paths.persistentState);
    const guard = new FileGuard();
    const volumes = await prepareVolumes(vmi, { paths, images, guard });
    const network = await this.#dependencies.network.start(vmi, options?.preparedInterfaces ?? []);
    const architecture = parseArchitecture(vmi.spec.architecture ?? "") ?? this.#dependencies.hostArchitecture;
    const places = { guestDirectory: folder, persistentState: paths.persistentState };
    const firmware = await prepareFirmware(vmi, architecture, places);
    await awaitSharedFolders(vmi, paths);
    const context = converterContext(vmi, options, { volumes, network, firmware }, this.#dependencies);
    const machine = hypervisor.converter.convert(vmi, context);
    const converted = withHotplugPorts(machine, vmi, this.#dependencies.stack.hotplug?.portsTaken?.(machine) ?? 0);
    const pluginsJson = options?.pluginsJson ?? new Uint8Array();
    const domain = await hooks.apply(converted, { vmi, pluginsJson, invocation });
    return { domain, guard };
  }
}
