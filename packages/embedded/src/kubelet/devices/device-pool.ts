/** One device of a plug-in. */
export interface DeviceInfo {
  readonly id: string;
  readonly healthy: boolean;
}

/** What a plug-in's answer makes of a container; kept, because the container may be started again without asking. */
export interface DeviceGrant {
  readonly resource: string;
  readonly deviceIds: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** For the container runtime, which is us; kept with the container. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly mounts: readonly { readonly containerPath: string; readonly hostPath: string; readonly readOnly: boolean }[];
  readonly devices: readonly { readonly containerPath: string; readonly hostPath: string }[];
}

/** pod UID → container → what it was given. */
export type Grants = Map<string, Map<string, DeviceGrant[]>>;

interface Resource {
  readonly devices: ReadonlyMap<string, DeviceInfo>;
  /** Its plug-in is connected. */
  readonly connected: boolean;
}

/** Which devices there are and who has them. No input or output: the device manager tells it what happened. */
export class DevicePool {
  readonly #resources = new Map<string, Resource>();
  readonly #grants: Grants;

  constructor(grants: Grants = new Map()) {
    this.#grants = grants;
  }

  setDevices(resource: string, devices: readonly DeviceInfo[]): void {
    const byId = new Map(devices.map((device) => [device.id, device]));
    this.#resources.set(resource, { devices: byId, connected: true });
  }

  /** The plug-in is gone: its devices are still there, but nobody can be given one. */
  disconnect(resource: string): void {
    const known = this.#resources.get(resource);
    if (known !== undefined) this.#resources.set(resource, { ...known, connected: false });
  }

  /** The plug-in does not come back: there are no devices of this kind any more. */
  forget(resource: string): void {
    this.#resources.set(resource, { devices: new Map(), connected: false });
  }

  isManaged(resource: string): boolean {
    return this.#resources.has(resource);
  }

  /** What the node reports: all devices, and those that can be given away or were given to a pod. */
  amounts(): Map<string, { capacity: number; allocatable: number }> {
    return new Map(
      [...this.#resources].map(([name, { devices, connected }]) => {
        const healthy = [...devices.values()].filter((device) => device.healthy).length;
        return [name, { capacity: devices.size, allocatable: connected ? healthy : 0 }];
      }),
    );
  }

  /** Healthy devices that nobody has. */
  free(resource: string): string[] {
    const known = this.#resources.get(resource);
    if (known === undefined || !known.connected) return [];
    const taken = this.#taken(resource);
    return [...known.devices.values()].filter(({ id, healthy }) => healthy && !taken.has(id)).map(({ id }) => id);
  }

  grantsOf(podUid: string, container: string): readonly DeviceGrant[] {
    return this.#grants.get(podUid)?.get(container) ?? [];
  }

  give(podUid: string, container: string, grant: DeviceGrant): void {
    const containers = this.#grants.get(podUid) ?? new Map<string, DeviceGrant[]>();
    containers.set(container, [...(containers.get(container) ?? []), grant]);
    this.#grants.set(podUid, containers);
  }

  /** True when the pod had something. */
  takeBack(podUid: string): boolean {
    return this.#grants.delete(podUid);
  }

  holders(): string[] {
    return [...this.#grants.keys()];
  }

  toJson(): unknown {
    return [...this.#grants].map(([uid, containers]) => [uid, [...containers]]);
  }

  #taken(resource: string): Set<string> {
    const grants = [...this.#grants.values()].flatMap((containers) => [...containers.values()].flat());
    return new Set(grants.filter((grant) => grant.resource === resource).flatMap(({ deviceIds }) => deviceIds));
  }
}

/** Reads what `toJson` wrote; an empty pool for anything else. */
export function grantsFromJson(text: string): Grants {
  try {
    // Written by ourselves into our own directory; a file of another shape fails in the constructors below.
    const entries = JSON.parse(text) as [string, [string, DeviceGrant[]][]][];
    return new Map(entries.map(([uid, containers]) => [uid, new Map(containers)]));
  } catch {
    // No file yet.
    return new Map();
  }
}

/** The asked number of devices: the plug-in's preference first, as far as it is free, then any. */
export function chooseDevices(
  count: number,
  free: readonly string[],
  preferred: readonly string[],
): string[] | undefined {
  if (free.length < count) return undefined;
  const available = new Set(free);
  const wanted = [...new Set(preferred)].filter((id) => available.has(id)).slice(0, count);
  const rest = free.filter((id) => !wanted.includes(id));
  return [...wanted, ...rest].slice(0, count);
}
