import { leases, nodes, type Lease, type Node, type NodeStatus } from "@polyvirt/api/k8s";
import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import type { KubeClient } from "@polyvirt/kube";
import { nodeLabels, nodeObject, nodeStatus, type NodeDescription } from "./node-object.ts";

interface NodeRegistrationOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly describe: () => NodeDescription;
  readonly leaseSeconds?: number;
}

const leaseNamespace = "kube-node-lease";
const statusEveryMs = 60_000;

/** Keeps the Node object and its lease current, which is how the cluster knows that the node lives. */
export class NodeRegistration {
  readonly #options: NodeRegistrationOptions;
  readonly #leaseSeconds: number;
  #statusDue = 0;

  constructor(options: NodeRegistrationOptions) {
    this.#options = options;
    this.#leaseSeconds = options.leaseSeconds ?? 40;
  }

  /** Creates or updates the Node; resolves when the API server has it. */
  async register(): Promise<void> {
    const { client } = this.#options;
    const description = this.#options.describe();
    const existing = await this.#find();
    if (existing === undefined) {
      await client.create(nodes, nodeObject(description));
    } else {
      const body = { metadata: { labels: nodeLabels(description) } };
      await client.patch(nodes, description.name, undefined, { type: "merge", body });
    }
    await this.#renewLease();
    await this.#resetDevices(existing);
    await this.updateStatus();
  }

  /** Devices of an earlier kubelet are not known to be there until their plug-ins register again. */
  async #resetDevices(existing: Node | undefined): Promise<void> {
    const { name, devices } = this.#options.describe();
    const stale = Object.keys(existing?.status?.capacity ?? {}).filter((key) => key.includes("/") && !devices.has(key));
    if (stale.length === 0) return;
    const zero = Object.fromEntries(stale.map((resource) => [resource, "0"]));
    const body = { status: { capacity: zero, allocatable: zero } };
    await this.#options.client.patch(nodes, name, undefined, { type: "strategic", subresource: "status", body });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      await clock.sleep((this.#leaseSeconds * 1000) / 4, signal).catch(() => {});
      if (signal.aborted) return;
      try {
        await this.#renewLease();
        await this.updateStatus();
      } catch (error) {
        logger.warn("the node could not report that it lives", { error: describeError(error) });
        if (hasCode(error, "KubeNotFound")) await this.register().catch(() => {});
      }
    }
  }

  /** Writes when the API server shows something else, and every minute. */
  async updateStatus(notReady?: { reason: string; message: string }): Promise<void> {
    const { client, clock } = this.#options;
    const description = this.#options.describe();
    const existing = await client.get(nodes, description.name);
    const status = nodeStatus(description, existing.status, clock.now(), notReady);
    if (clock.monotonic() < this.#statusDue && meaningOf(status) === meaningOf(ownPart(existing.status, status)))
      return;
    const body = { status };
    await client.patch(nodes, description.name, undefined, { type: "strategic", subresource: "status", body });
    this.#statusDue = clock.monotonic() + statusEveryMs;
  }

  async #find(): Promise<Node | undefined> {
    try {
      return await this.#options.client.get(nodes, this.#options.describe().name);
    } catch (error) {
      if (hasCode(error, "KubeNotFound")) return undefined;
      throw error;
    }
  }

  async #renewLease(): Promise<void> {
    const { client, clock } = this.#options;
    const { name } = this.#options.describe();
    const renewTime = new Date(clock.now()).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: name, leaseDurationSeconds: this.#leaseSeconds, renewTime };
    try {
      await client.patch(leases, name, leaseNamespace, { type: "merge", body: { spec } });
    } catch (error) {
      if (!hasCode(error, "KubeNotFound")) throw error;
      const lease: Lease = { metadata: { name, namespace: leaseNamespace }, spec };
      await client.create(leases, lease);
    }
  }
}

/** Conditions of other agents of the node are none of ours. */
function ownPart(existing: NodeStatus | undefined, own: NodeStatus): NodeStatus {
  const types = new Set(own.conditions?.map(({ type }) => type));
  return { ...existing, conditions: (existing?.conditions ?? []).filter(({ type }) => types.has(type)) };
}

/** What matters in a status: heartbeats and their times do not. */
function meaningOf(status: NodeStatus | undefined): string {
  const { capacity, allocatable, addresses, daemonEndpoints, nodeInfo, conditions = [] } = status ?? {};
  const sorted = (object: object | undefined): unknown =>
    Object.entries(object ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const states = Object.fromEntries(conditions.map(({ type, status: state }) => [type, state]));
  return JSON.stringify([capacity, allocatable, nodeInfo, states].map(sorted).concat([addresses, daemonEndpoints]));
}
