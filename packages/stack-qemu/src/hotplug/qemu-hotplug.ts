import type { Domain } from "@polyvirt/domain";
import { errors, type Hotplug } from "@polyvirt/stack";
import { refuseUnread } from "../arguments/build-arguments.ts";
import type { Disk, Interface } from "../arguments/definition-types.ts";
import { buildDisk, nodeNames } from "../arguments/disk.ts";
import { buildInterface } from "../arguments/interface.ts";
import { Section } from "../arguments/section.ts";
import type { QemuLifecycle } from "../lifecycle/qemu-lifecycle.ts";
import type { QemuMachine } from "../lifecycle/qemu-machine.ts";
import { freePort } from "./free-port.ts";
import { addMemory, addVcpus } from "./resources.ts";

/** Changes a running machine through the monitor. What a change leaves half done is undone. */
export class QemuHotplug implements Hotplug {
  readonly #lifecycle: QemuLifecycle;
  #count = 0;
  /** What is being cleared away after devices that are gone; new ones wait for it. */
  #clearing: Promise<unknown> = Promise.resolve();

  constructor(lifecycle: QemuLifecycle) {
    this.#lifecycle = lifecycle;
    lifecycle.subscribe((event) => {
      if (event.kind === "deviceRemoved") this.#remove(event.alias);
    });
  }

  async attachDisk(disk: Disk): Promise<void> {
    await this.#clearing;
    const machine = this.#lifecycle.running("attach a disk to");
    const { plan, buses } = machine.hardware;
    const section = new Section(disk, `devices.disks[${machine.definition.devices?.disks?.length ?? 0}]`);
    const { id, nodes, device } = buildDisk(section, `hot${(this.#count += 1)}`, buses, plan);
    const undo: Undo[] = [async () => plan.releaseId(id)];
    await undoing(undo, async () => {
      refuseUnread(section);
      for (const node of nodes) {
        await machine.monitor.execute("blockdev-add", node);
        undo.push(() => machine.monitor.execute("blockdev-del", { "node-name": node["node-name"] }));
      }
      await machine.monitor.execute("device_add", await placed(machine, device));
    });
    plan.setBlockNodes(id, nodeNames(nodes));
    changeDevices(machine, ({ disks = [], ...others }) => ({ ...others, disks: [...disks, disk] }));
  }

  async detachDisk(alias: string): Promise<void> {
    const machine = this.#lifecycle.running("detach a disk from");
    findDevice(machine.definition.devices?.disks, alias, "disk");
    await unplug(machine, alias);
  }

  async resizeDisk(alias: string, bytes: number): Promise<void> {
    const machine = this.#lifecycle.running("resize a disk of");
    findDevice(machine.definition.devices?.disks, alias, "disk");
    const node = machine.hardware.plan.blockNodes(alias).at(-1);
    await machine.monitor.execute("block_resize", { "node-name": node, size: bytes });
  }

  async attachInterface(given: Interface): Promise<void> {
    await this.#clearing;
    const machine = this.#lifecycle.running("attach a network card to");
    const { plan } = machine.hardware;
    const section = new Section(given, `devices.interfaces[${machine.definition.devices?.interfaces?.length ?? 0}]`);
    const { id, netdev, device, linkDown } = buildInterface(section, `hotnet${(this.#count += 1)}`, plan);
    const undo: Undo[] = [async () => plan.releaseId(id)];
    await undoing(undo, async () => {
      refuseUnread(section);
      await machine.monitor.execute("netdev_add", netdev);
      undo.push(() => machine.monitor.execute("netdev_del", { id: netdev.id }));
      await machine.monitor.execute("device_add", await placed(machine, device));
    });
    if (linkDown) await machine.monitor.execute("set_link", { name: id, up: false });
    changeDevices(machine, ({ interfaces = [], ...others }) => ({ ...others, interfaces: [...interfaces, given] }));
  }

  async detachInterface(alias: string): Promise<void> {
    const machine = this.#lifecycle.running("detach a network card from");
    findDevice(machine.definition.devices?.interfaces, alias, "network card");
    await unplug(machine, alias);
  }

  async setLink(alias: string, up: boolean): Promise<void> {
    const machine = this.#lifecycle.running("change the link of");
    findDevice(machine.definition.devices?.interfaces, alias, "network card");
    await machine.monitor.execute("set_link", { name: alias, up });
    const link = { state: up ? "up" : "down" };
    changeDevices(machine, ({ interfaces = [], ...others }) => ({
      ...others,
      interfaces: interfaces.map((device) => (device.alias?.name === alias ? { ...device, link } : device)),
    }));
  }

  async setVcpuCount(count: number): Promise<void> {
    const machine = this.#lifecycle.running("change the CPUs of");
    await addVcpus(machine.monitor, count);
    machine.definition = { ...machine.definition, vcpu: { ...machine.definition.vcpu, current: count } };
  }

  async setMemory(bytes: number): Promise<void> {
    const machine = this.#lifecycle.running("change the memory of");
    await addMemory(machine.monitor, bytes, (this.#count += 1));
    machine.definition = { ...machine.definition, currentMemory: { value: bytes, unit: "b" } };
  }

  /** The guest has let go of a device: it is no part of the machine any more, and what QEMU held for it can go as well. */
  #remove(alias: string): void {
    const machine = this.#lifecycle.running("clean up after a device of");
    const { disks = [], interfaces = [] } = machine.definition.devices ?? {};
    const isCard = interfaces.some((device) => device.alias?.name === alias);
    // QEMU tells of inner devices as well.
    if (!isCard && !disks.some((disk) => disk.alias?.name === alias)) return;
    changeDevices(machine, (devices) => ({
      ...devices,
      ...(devices.disks && { disks: disks.filter((disk) => disk.alias?.name !== alias) }),
      ...(devices.interfaces && { interfaces: interfaces.filter((device) => device.alias?.name !== alias) }),
    }));
    this.#clearing = this.#clearing.then(() => clear(machine, alias, isCard));
  }
}

/** Whatever is gone already is as it should be; a machine that ends meanwhile takes everything with it. */
async function clear(machine: QemuMachine, alias: string, isCard: boolean): Promise<void> {
  const { plan } = machine.hardware;
  const remove = (command: string, args: object) =>
    machine.monitor.execute(command, { ...args }).catch(() => undefined);
  for (const node of plan.blockNodes(alias).toReversed()) await remove("blockdev-del", { "node-name": node });
  if (isCard) await remove("netdev_del", { id: `host${alias}` });
  plan.releaseId(alias);
}

/** It has been asked already, and takes its time or is just gone; in either case an event tells the rest. */
const underWay = /in the process of unplug|Device '[^']*' not found/;

/** Asks the guest to let go of a device that the machine has. */
async function unplug(machine: QemuMachine, alias: string): Promise<void> {
  try {
    await machine.monitor.execute("device_del", { id: alias });
  } catch (error) {
    if (error instanceof Error && underWay.test(error.message)) return;
    if (!(error instanceof Error && /does not support hotplugging/.test(error.message))) throw error;
    const why = "it was there when the machine started, on a bus that cannot change; restart the machine without it";
    throw errors.StackNotSupported(`detach ${alias}: ${why}`);
  }
}

type Undo = () => Promise<unknown>;

/** Runs the steps; when one fails, takes back those before it, the last first. */
async function undoing(undo: readonly Undo[], steps: () => Promise<void>): Promise<void> {
  try {
    await steps();
  } catch (error) {
    // The failure is what matters; a step that cannot be taken back leaves an unused node behind.
    for (const step of undo.toReversed()) await step().catch(() => undefined);
    throw error;
  }
}

/** PCI devices need a port; others say where they belong themselves. */
async function placed(
  machine: QemuMachine,
  device: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const needsPort = device["bus"] === undefined && machine.hardware.plan.architecture.pciBus !== undefined;
  return { ...device, ...(needsPort ? { bus: await freePort(machine.monitor) } : {}) };
}

type Devices = NonNullable<Domain["devices"]>;

function changeDevices(machine: QemuMachine, change: (devices: Devices) => Devices): void {
  machine.definition = { ...machine.definition, devices: change(machine.definition.devices ?? {}) };
}

function findDevice(
  devices: readonly { alias?: { name?: string | undefined } | undefined }[] | undefined,
  alias: string,
  what: string,
): void {
  if ((devices ?? []).some((device) => device.alias?.name === alias)) return;
  throw errors.StackDomainNotFound(`find ${what} ${alias}: the machine has none of that name`);
}
