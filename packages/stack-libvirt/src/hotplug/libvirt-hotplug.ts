import { readDomain, type Domain } from "@polyvirt/domain";
import { errors, type Hotplug } from "@polyvirt/stack";
import type { LibvirtLifecycle, LibvirtMachine } from "../lifecycle/libvirt-lifecycle.ts";
import { deviceXml } from "../lifecycle/machine-definition.ts";
import { procedures } from "../rpc/remote-program.ts";

type Devices = NonNullable<Domain["devices"]>;
type Disk = NonNullable<Devices["disks"]>[number];
type Interface = NonNullable<Devices["interfaces"]>[number];
type DeviceKind = "disks" | "interfaces";

/** The machine that runs, not the definition from which it was started. */
const live = 1;
const sizeInBytes = 1;
const kibibyte = 1024;
const words: Readonly<Record<DeviceKind, string>> = { disks: "disk", interfaces: "network card" };

/** Changes a running machine through libvirt, which undoes what it leaves half done. */
export class LibvirtHotplug implements Hotplug {
  readonly #lifecycle: LibvirtLifecycle;

  constructor(lifecycle: LibvirtLifecycle) {
    this.#lifecycle = lifecycle;
    lifecycle.subscribe((event) => {
      if (event.kind === "deviceRemoved") this.#remove(event.alias);
    });
  }

  portsTaken({ devices = {} }: Domain): number {
    const { disks = [], controllers = [], interfaces = [], filesystems = [], hostdevs = [], rngs = [] } = devices;
    // libvirt gives each of these a port; one too many counted here is a port more for the guest.
    const many = [interfaces, filesystems, hostdevs, rngs, disks.filter(({ target }) => target?.bus === "virtio")];
    const buses = controllers.filter(({ type, model }) => type !== "pci" && model !== "none");
    const single = [devices.memballoon, devices.vsock].filter((device) => device !== undefined);
    return [...many, buses, single].reduce((sum, { length }) => sum + length, 0);
  }

  async attachDisk(disk: Disk): Promise<void> {
    const machine = this.#lifecycle.running("attach a disk to");
    refuseTaken(machine, "disks", disk.alias?.name);
    await this.#attach(machine, { disks: [disk] }, "attach a disk");
    changeDevices(machine, ({ disks = [], ...others }) => ({ ...others, disks: [...disks, disk] }));
  }

  async detachDisk(alias: string): Promise<void> {
    await this.#detach("disks", alias);
  }

  async resizeDisk(alias: string, bytes: number): Promise<void> {
    const machine = this.#lifecycle.running("resize a disk of");
    const disk = findDevice(machine, "disks", alias);
    await this.#lifecycle.call(
      procedures.domainBlockResize,
      { domain: machine.handle, disk: disk.target?.dev ?? "", size: BigInt(bytes), flags: sizeInBytes },
      `resize disk ${alias}`,
    );
  }

  async attachInterface(device: Interface): Promise<void> {
    const machine = this.#lifecycle.running("attach a network card to");
    refuseTaken(machine, "interfaces", device.alias?.name);
    await this.#attach(machine, { interfaces: [device] }, "attach a network card");
    changeDevices(machine, ({ interfaces = [], ...others }) => ({ ...others, interfaces: [...interfaces, device] }));
  }

  async detachInterface(alias: string): Promise<void> {
    await this.#detach("interfaces", alias);
  }

  async setLink(alias: string, up: boolean): Promise<void> {
    const machine = this.#lifecycle.running("change the link of");
    findDevice(machine, "interfaces", alias);
    // libvirt compares everything that it is told with the card that is there, so it has to be that card.
    const current = await this.#current(machine);
    const card = current.devices?.interfaces?.find((device) => device.alias?.name === alias);
    const xml = deviceXml({ interfaces: [{ ...card, link: { state: up ? "up" : "down" } }] });
    const request = { domain: machine.handle, xml, flags: live };
    await this.#lifecycle.call(procedures.domainUpdateDeviceFlags, request, `change the link of ${alias}`);
    const link = { state: up ? "up" : "down" };
    changeDevices(machine, ({ interfaces = [], ...others }) => ({
      ...others,
      interfaces: interfaces.map((device) => (device.alias?.name === alias ? { ...device, link } : device)),
    }));
  }

  async setVcpuCount(count: number): Promise<void> {
    const machine = this.#lifecycle.running("change the CPUs of");
    const { vcpu } = machine.definition;
    const present = Number(vcpu?.current ?? vcpu?.value ?? 1);
    if (count === present) return;
    if (count < present) {
      throw errors.StackNotSupported(
        `change the CPUs from ${present} to ${count}: stack libvirt cannot take CPUs away; restart the machine`,
      );
    }
    const request = { domain: machine.handle, count, flags: live };
    await this.#lifecycle.call(procedures.domainSetVcpusFlags, request, `change the CPUs to ${count}`);
    machine.definition = { ...machine.definition, vcpu: { ...vcpu, current: count } };
  }

  /** Memory grows by modules; the guest cannot be made to give one back. */
  async setMemory(bytes: number): Promise<void> {
    const machine = this.#lifecycle.running("change the memory of");
    // libvirt counts in kibibytes, and its total includes every module.
    const present = Number((await this.#current(machine)).memory?.value ?? 0) * kibibyte;
    if (bytes === present) return;
    if (bytes < present) {
      throw errors.StackNotSupported(
        `change the memory from ${present} to ${bytes} bytes: stack libvirt cannot take memory away; restart the machine`,
      );
    }
    const target = { size: { value: (bytes - present) / kibibyte, unit: "KiB" }, node: 0 };
    await this.#attach(machine, { memorydevs: [{ model: "dimm", target }] }, "add memory");
    machine.definition = { ...machine.definition, currentMemory: { value: bytes, unit: "b" } };
  }

  async #attach(machine: LibvirtMachine, devices: Devices, operation: string): Promise<void> {
    const request = { domain: machine.handle, xml: deviceXml(devices), flags: live };
    await this.#lifecycle.call(procedures.domainAttachDeviceFlags, request, operation);
  }

  async #detach(kind: DeviceKind, alias: string): Promise<void> {
    const machine = this.#lifecycle.running(`detach a ${words[kind]} from`);
    findDevice(machine, kind, alias);
    const request = { domain: machine.handle, alias, flags: live };
    try {
      await this.#lifecycle.call(procedures.domainDetachDeviceAlias, request, `detach ${words[kind]} ${alias}`);
    } catch (error) {
      // The guest has been asked already and takes its time, which is as good.
      if (!(error instanceof Error && /in the process of unplug|no device found/.test(error.message))) throw error;
    }
  }

  /** The machine as libvirt sees it now. */
  async #current(machine: LibvirtMachine): Promise<Domain> {
    const request = { domain: machine.handle, flags: 0 };
    const { xml } = await this.#lifecycle.call(procedures.domainGetXmlDesc, request, "look at the machine");
    return readDomain(xml);
  }

  #remove(alias: string): void {
    const left = <T extends Disk | Interface>(devices: readonly T[]): T[] =>
      devices.filter((device) => device.alias?.name !== alias);
    changeDevices(this.#lifecycle.running("clean up after a device of"), ({ disks, interfaces, ...others }) => ({
      ...others,
      ...(disks && { disks: left(disks) }),
      ...(interfaces && { interfaces: left(interfaces) }),
    }));
  }
}

function changeDevices(machine: LibvirtMachine, change: (devices: Devices) => Devices): void {
  machine.definition = { ...machine.definition, devices: change(machine.definition.devices ?? {}) };
}

function refuseTaken(machine: LibvirtMachine, kind: DeviceKind, alias: string | undefined): void {
  const taken = machine.definition.devices?.[kind]?.some((device) => device.alias?.name === alias) ?? false;
  if (!taken || alias === undefined) return;
  throw errors.StackDefinitionRefused(`read devices.${kind}: the machine has a ${words[kind]} ${alias} already`);
}

function findDevice<Kind extends DeviceKind>(
  machine: LibvirtMachine,
  kind: Kind,
  alias: string,
): Kind extends "disks" ? Disk : Interface {
  const devices: readonly (Disk | Interface)[] = machine.definition.devices?.[kind] ?? [];
  const found = devices.find((device) => device.alias?.name === alias);
  if (found === undefined) {
    throw errors.StackDomainNotFound(`find ${words[kind]} ${alias}: the machine has none of that name`);
  }
  // It comes from the list of that kind.
  return found as Kind extends "disks" ? Disk : Interface;
}
