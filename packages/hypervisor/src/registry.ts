import { parseArchitecture, type Architecture } from "./architecture.ts";
import type { SelectedHypervisor } from "./cluster-config.ts";
import type { Hypervisor } from "./contract.ts";
import { errors } from "./errors.ts";

export interface Platform {
  readonly hypervisor: Hypervisor;
  readonly architecture: Architecture;
}

/** Finds hypervisors by name or alias in constant time. A value, not a global: tests and tools make their own. */
export class HypervisorRegistry {
  private readonly byName = new Map<string, Hypervisor>();

  constructor(hypervisors: readonly Hypervisor[] = []) {
    for (const hypervisor of hypervisors) this.register(hypervisor);
  }

  register(hypervisor: Hypervisor): void {
    for (const name of [hypervisor.name, ...hypervisor.aliases]) {
      if (name === "" || name.includes("/")) {
        throw errors.HypervisorContractBroken(`register a hypervisor: "${name}" is no usable name`, {
          fields: { name },
        });
      }
      if (this.byName.has(name)) {
        throw errors.HypervisorNameTaken(`register hypervisor ${hypervisor.name}: the name ${name} is taken`, {
          fields: { name },
        });
      }
    }
    for (const name of [hypervisor.name, ...hypervisor.aliases]) this.byName.set(name, hypervisor);
  }

  /** A registry with these hypervisors beside the ones in here, which stays as it is. */
  with(...hypervisors: readonly Hypervisor[]): HypervisorRegistry {
    return new HypervisorRegistry([...new Set(this.byName.values()), ...hypervisors]);
  }

  /** Names as users write them, without aliases. */
  names(): string[] {
    return [...new Set([...this.byName.values()].map(({ name }) => name))];
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  get(name: string): Hypervisor {
    const found = this.byName.get(name);
    if (found === undefined) {
      throw errors.HypervisorUnknown(`find hypervisor ${name}: known are ${this.names().join(", ")}`, {
        fields: { hypervisor: name },
      });
    }
    return found;
  }

  /** Reads a composite key: `kvm/amd64`. */
  platform(key: string): Platform {
    const [name = "", architectureName = ""] = key.split("/");
    const architecture = parseArchitecture(architectureName);
    if (architecture === undefined) {
      throw errors.HypervisorUnknown(`find platform ${key}: write hypervisor/architecture, for example kvm/amd64`, {
        fields: { platform: key },
      });
    }
    return { hypervisor: this.get(name), architecture };
  }

  /** The hypervisor that the cluster selected, with the node facts that its administrator overrides. */
  select({ name, hypervisorDevice, virtType }: SelectedHypervisor): Hypervisor {
    const hypervisor = this.get(name);
    if (hypervisorDevice === undefined && virtType === undefined) return hypervisor;
    return hypervisor.withNode({
      ...hypervisor.node,
      hypervisorDevice: hypervisorDevice ?? hypervisor.node.hypervisorDevice,
      virtType: virtType ?? hypervisor.node.virtType,
    });
  }
}
