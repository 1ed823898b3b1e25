import type { Address } from "./definition-types.ts";
import type { DeviceProperties, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

type Ported = Section<{ address?: Address | undefined }>;

/** QEMU's limit of ports for one controller. */
const portsPerController = 31;

/** Gives channels and consoles their ports: those that ask for one get it, the others what is left. */
export class VirtioPorts {
  readonly #plan: MachinePlan;
  readonly #taken = new Set<string>();

  constructor(devices: readonly Ported[], plan: MachinePlan) {
    this.#plan = plan;
    for (const device of devices) {
      const wanted = wantedPort(device);
      if (wanted?.port === undefined) continue;
      const key = `${wanted.controller} ${wanted.port}`;
      if (this.#taken.has(key)) throw device.refuse("address", "another device has this port");
      this.#taken.add(key);
    }
  }

  /** Port 0 is reserved for a console. */
  place(device: Ported, lowest: 0 | 1): DeviceProperties {
    const wanted = wantedPort(device);
    if (wanted === undefined) {
      for (let controller = 0; this.#busOf(controller) !== undefined; controller += 1) {
        const nr = this.#free(controller, lowest);
        if (nr !== undefined) return { bus: this.#busOf(controller), nr };
      }
      throw device.refuse("address", "no virtio-serial controller has a free port; add a controller");
    }
    const bus = this.#busOf(wanted.controller);
    if (bus === undefined)
      throw device.refuse("address", "no controller of type virtio-serial has this index; add one");
    const nr = wanted.port ?? this.#free(wanted.controller, lowest);
    if (nr === undefined || nr >= this.#limitOf(wanted.controller)) {
      throw device.refuse("address", "the controller has no such free port; name another controller");
    }
    return { bus, nr };
  }

  #busOf(controller: number): string | undefined {
    return this.#plan.busName("virtio-serial", controller);
  }

  #limitOf(controller: number): number {
    return Number(this.#plan.busName("virtio-serial ports", controller) ?? portsPerController);
  }

  #free(controller: number, lowest: number): number | undefined {
    for (let port = lowest; port < this.#limitOf(controller); port += 1) {
      const key = `${controller} ${port}`;
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return port;
    }
    return undefined;
  }
}

/** A port of 0 in an address means any, except for a console that says so; libvirt writes it where it has not chosen. */
function wantedPort(device: Ported): { controller: number; port: number | undefined } | undefined {
  const address = device.child("address");
  if (address === undefined) return undefined;
  address.oneOf("type", ["virtio-serial"]);
  if ((address.number("bus") ?? 0) !== 0) throw address.refuse("bus", "a virtio-serial controller has only bus 0");
  const port = address.number("port") ?? 0;
  return { controller: address.number("controller") ?? 0, port: port === 0 ? undefined : port };
}
