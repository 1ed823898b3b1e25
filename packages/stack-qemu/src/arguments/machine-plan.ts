import type { Domain } from "@polyvirt/domain";
import type { GuestArchitecture } from "./architecture.ts";
import { json, keyValues, type OptionValues } from "./option.ts";
import type { Section } from "./section.ts";

export type DomainSection = Section<Domain>;

/** Properties of a device in QEMU's JSON. */
export type DeviceProperties = Readonly<
  Record<string, string | number | bigint | boolean | readonly unknown[] | undefined>
>;

/**
 * What the builders contribute to. Options that several of them share (`-machine`, `-cpu`) are collected and written once
 * at the end; the rest is written in the order in which QEMU needs it.
 */
export class MachinePlan {
  readonly architecture: GuestArchitecture;
  /** `qemu` means software emulation. */
  readonly virtType: "qemu" | "kvm" | "hyperv";
  readonly host: MachineHost;
  readonly #machine = new Map<string, string | number | boolean>();
  readonly #cpu = new Map<string, string | number | boolean>();
  readonly #accel = new Map<string, string | number | boolean>();
  readonly #options: string[] = [];
  readonly #backends: string[] = [];
  readonly #devices: DeviceEntry[] = [];
  readonly #buses = new Map<string, string>();
  readonly #bootIndexes = new Map<string, number>();
  readonly #ids = new Set<string>();
  readonly #blockNodes = new Map<string, readonly string[]>();
  readonly #afterStart: AfterStart[] = [];
  readonly #companions: Companion[] = [];
  readonly #needs: HostNeed[] = [];
  #cpuModel: string | undefined;

  constructor(architecture: GuestArchitecture, virtType: MachinePlan["virtType"], host: MachineHost) {
    this.architecture = architecture;
    this.virtType = virtType;
    this.host = host;
  }

  /** Where the machine's threads run. */
  placement: ThreadPlacement = { vcpus: new Map(), iothreads: new Map(), emulator: undefined };

  /** Whether other programs can be given the guest's memory. */
  sharedMemory = false;

  setMachine(values: OptionValues): void {
    collect(this.#machine, values);
  }

  setCpu(model: string | undefined, values: OptionValues = {}): void {
    this.#cpuModel = model ?? this.#cpuModel;
    collect(this.#cpu, values);
  }

  setAccelerator(values: OptionValues): void {
    collect(this.#accel, values);
  }

  /** An option and its value, each an argument of its own. */
  addOption(name: string, ...value: string[]): void {
    this.#options.push(name, ...value);
  }

  addKeyValues(name: string, head: string, values: OptionValues): void {
    this.#options.push(name, keyValues(head, values));
  }

  addChardev(backend: string, values: OptionValues): void {
    this.#backends.push("-chardev", keyValues(backend, values));
  }

  addObject(type: string, id: string, properties: DeviceProperties = {}): void {
    this.#backends.push("-object", json({ "qom-type": type, id, ...properties }));
  }

  addBlockdev(properties: Readonly<Record<string, unknown>>): void {
    this.#backends.push("-blockdev", json(properties));
  }

  /** A back end whose option takes no JSON. */
  addBackend(option: string, head: string, values: OptionValues): void {
    this.#backends.push(option, keyValues(head, values));
  }

  addAudio(properties: Readonly<Record<string, unknown>>): void {
    this.#backends.push("-audiodev", json(properties));
  }

  addNetdev(properties: Readonly<Record<string, unknown>>): void {
    this.#backends.push("-netdev", json(properties));
  }

  addDevice(driver: string, properties: DeviceProperties = {}): void {
    this.#devices.push({ driver, properties });
  }

  /** Says what QEMU calls the bus of a controller, by which the definition's addresses name it. */
  nameBus(type: string, index: number, name: string): void {
    this.#buses.set(`${type} ${index}`, name);
  }

  /** The firmware's order, for a device that has none of its own. */
  setBootIndex(path: string, index: number): void {
    this.#bootIndexes.set(path, index);
  }

  bootIndex(path: string): number | undefined {
    return this.#bootIndexes.get(path);
  }

  busName(type: string, index: number): string | undefined {
    return this.#buses.get(`${type} ${index}`);
  }

  /** A monitor command that must run before the guest does. */
  addAfterStart(command: AfterStart): void {
    this.#afterStart.push(command);
  }

  /** A program that must run before QEMU does, and ends with it. */
  addCompanion(companion: Companion): void {
    this.#companions.push(companion);
  }

  /** Without this file of the host the machine would not start; `why` says which part of the definition wants it. */
  requireFile(path: string, why: string): void {
    this.#needs.push({ path, why });
  }

  get companions(): readonly Companion[] {
    return this.#companions;
  }

  get needs(): readonly HostNeed[] {
    return this.#needs;
  }

  /** True the first time; a second device may not have the same id. */
  claimId(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    return true;
  }

  /** A device that was taken out, or could not be put in, leaves its id to others. */
  releaseId(id: string): void {
    this.#ids.delete(id);
    this.#blockNodes.delete(id);
  }

  /** Block nodes of a disk, the lowest first: they have to go when the disk does. */
  setBlockNodes(id: string, names: readonly string[]): void {
    this.#blockNodes.set(id, names);
  }

  blockNodes(id: string): readonly string[] {
    return this.#blockNodes.get(id) ?? [];
  }

  get afterStart(): readonly AfterStart[] {
    return this.#afterStart;
  }

  write(): string[] {
    const { machineType } = this.architecture;
    const accelerator = { qemu: "tcg", kvm: "kvm", hyperv: "mshv" }[this.virtType];
    return [
      "-machine",
      keyValues(machineType, Object.fromEntries(this.#machine)),
      "-accel",
      keyValues(accelerator, Object.fromEntries(this.#accel)),
      ...this.#writeCpu(accelerator),
      ...this.#options,
      ...this.#backends,
      ...this.#writeDevices(),
    ];
  }

  /** Without a model the machine chooses; one that has features beside it must be named. */
  #writeCpu(accelerator: string): string[] {
    const named =
      this.#cpuModel ??
      (this.#cpu.size === 0 ? undefined : this.architecture.plainCpu[accelerator === "tcg" ? "emulated" : "native"]);
    return named === undefined ? [] : ["-cpu", keyValues(named, Object.fromEntries(this.#cpu))];
  }

  /** QEMU fills what is free in the order of its arguments, so those who need a certain place come first. */
  #writeDevices(): string[] {
    const buses = new Set([...this.#buses.values()].map((name) => name.replace(/\.0$/, "")));
    const rank = ({ driver, properties: { addr, bus, devno, id, masterbus, port } }: DeviceEntry): number => {
      if (driver.endsWith("-iommu")) return 0;
      if ((addr !== undefined && bus === this.architecture.pciBus) || devno !== undefined) return 1;
      if (buses.has(String(id)) || masterbus !== undefined) return 2;
      return driver === "usb-hub" ? 3 : typeof port === "string" ? 4 : 5;
    };
    return withMultifunction(this.#devices)
      .toSorted((a, b) => rank(a) - rank(b))
      .flatMap(({ driver, properties }) => ["-device", json({ driver, ...properties })]);
  }
}

interface DeviceEntry {
  readonly driver: string;
  readonly properties: DeviceProperties;
}

/** A slot with several functions must say so at the first one; definitions leave that to whoever reads them. */
function withMultifunction(devices: readonly DeviceEntry[]): DeviceEntry[] {
  const slotOf = ({ bus, addr }: DeviceProperties): string =>
    `${String(bus)} ${String(addr).replace(/\.0x[0-7]$/, "")}`;
  const isLater = ({ addr }: DeviceProperties): boolean => typeof addr === "string" && !addr.endsWith(".0x0");
  const shared = new Set(
    devices
      .map(({ properties }) => properties)
      .filter(isLater)
      .map(slotOf),
  );
  return devices.map(({ driver, properties }) => {
    const first = typeof properties["addr"] === "string" && !isLater(properties) && shared.has(slotOf(properties));
    const asked = properties["multifunction"] !== undefined;
    return { driver, properties: first && !asked ? { ...properties, multifunction: true } : properties };
  });
}

/** What the arguments may say about the host that the machine starts on. */
export interface MachineHost {
  /** Milliseconds since 1970, for clocks that begin at a moment of their own. */
  readonly now: number;
  /** For sockets and state that end with the launcher. */
  readonly stateDirectory: string;
  /** For state that outlives the launcher. */
  readonly persistentDirectory: string;
}

export interface Companion {
  /** For messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Made before it starts, for its user alone. */
  readonly directories: readonly string[];
  /** It is ready when this socket is there. */
  readonly socket: string;
}

/** CPUs of the host for the threads of a machine. What is not named runs anywhere. */
export interface ThreadPlacement {
  /** By the number of the virtual CPU. */
  readonly vcpus: ReadonlyMap<number, readonly number[]>;
  /** By QEMU's id of the thread. */
  readonly iothreads: ReadonlyMap<string, readonly number[]>;
  /** For everything that is neither. */
  readonly emulator: readonly number[] | undefined;
}

export interface HostNeed {
  readonly path: string;
  readonly why: string;
}

export interface AfterStart {
  readonly command: string;
  readonly args: Readonly<Record<string, unknown>>;
}

function collect(target: Map<string, string | number | boolean>, values: OptionValues): void {
  for (const [key, value] of Object.entries(values)) if (value !== undefined) target.set(key, value);
}
