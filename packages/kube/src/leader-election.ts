import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import { leases, type Lease } from "@polyvirt/api/k8s";
import type { KubeClient } from "./client/kube-client.ts";
import { errors } from "./errors.ts";

export interface LeaderElectionOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "update">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace: string;
  /** Name of the Lease: one for each kind of controller. */
  readonly name: string;
  /** Unique for each process: the pod's name. */
  readonly identity: string;
  readonly leaseDurationMs?: number;
  readonly renewIntervalMs?: number;
  readonly retryIntervalMs?: number;
}

/**
 * Runs `lead` while this process holds the Lease. Its signal is aborted when the Lease is lost or `signal` is aborted;
 * after a loss it throws KubeLeaseLost, because what was begun as leader must not go on. Gives the Lease up at the end.
 */
export async function runAsLeader(
  options: LeaderElectionOptions,
  signal: AbortSignal,
  lead: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const election = new Election(options);
  if (!(await election.win(signal))) return;
  options.logger.info("became the leader", { lease: options.name, identity: options.identity });
  const term = new AbortController();
  const endTerm = () => term.abort(signal.reason);
  signal.addEventListener("abort", endTerm, { once: true });
  const keeping = election.keep(term.signal).then((lost) => {
    if (lost) term.abort(errors.KubeLeaseLost(`lead as ${options.identity}: lease ${options.name} was lost`));
    return lost;
  });
  try {
    await lead(term.signal);
  } finally {
    signal.removeEventListener("abort", endTerm);
    if (!term.signal.aborted) term.abort();
    if (!(await keeping)) await election.release();
  }
  if (await keeping) throw term.signal.reason;
}

class Election {
  readonly #options: LeaderElectionOptions;
  readonly #durationMs: number;
  readonly #renewMs: number;
  readonly #retryMs: number;
  /** The last state of the Lease, and when we saw it change: only our own clock is trusted. */
  #observed: { lease: Lease; renewTime: string | undefined; at: number } | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#durationMs = options.leaseDurationMs ?? 15_000;
    this.#renewMs = options.renewIntervalMs ?? 5_000;
    this.#retryMs = options.retryIntervalMs ?? 2_000;
  }

  async win(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if (await this.#tryAcquire()) return true;
      await this.#options.clock.sleep(this.#retryMs, signal).catch(() => {});
    }
    return false;
  }

  /** Renews until the signal is aborted (false) or the Lease is lost (true). */
  async keep(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    let renewedAt = clock.monotonic();
    for (;;) {
      const aborted = await clock.sleep(this.#renewMs, signal).then(
        () => false,
        () => true,
      );
      if (aborted) return false;
      if (await this.#tryAcquire()) renewedAt = clock.monotonic();
      // Stop a little before others may take it, so that two leaders never overlap.
      else if (clock.monotonic() - renewedAt > this.#durationMs - this.#renewMs || this.#isHeldByAnother()) return true;
    }
  }

  async release(): Promise<void> {
    const lease = this.#observed?.lease;
    if (lease?.spec?.holderIdentity !== this.#options.identity) return;
    const { holderIdentity: _, ...rest } = lease.spec;
    try {
      await this.#options.client.update(leases, { ...lease, spec: { ...rest, leaseDurationSeconds: 1 } });
    } catch (error) {
      this.#options.logger.debug("the lease could not be given up and will expire", { error: describeError(error) });
    }
  }

  #isHeldByAnother(): boolean {
    const holder = this.#observed?.lease.spec?.holderIdentity;
    return holder !== undefined && holder !== "" && holder !== this.#options.identity;
  }

  async #tryAcquire(): Promise<boolean> {
    const { client, namespace, name, logger } = this.#options;
    try {
      const lease = await client.get(leases, name, namespace);
      this.#observe(lease);
      if (this.#isHeldByAnother() && !this.#hasExpired(lease)) return false;
      this.#observe(await client.update(leases, { ...lease, spec: this.#spec(lease) }));
      return true;
    } catch (error) {
      if (hasCode(error, "KubeNotFound")) return this.#create();
      if (!hasCode(error, "KubeConflict")) {
        logger.warn("the leader's lease could not be read or written", { lease: name, error: describeError(error) });
      }
      return false;
    }
  }

  async #create(): Promise<boolean> {
    const { client, namespace, name, logger } = this.#options;
    try {
      this.#observe(await client.create(leases, { metadata: { name, namespace }, spec: this.#spec(undefined) }));
      return true;
    } catch (error) {
      if (!hasCode(error, "KubeAlreadyExists")) {
        logger.warn("the leader's lease could not be made", { lease: name, error: describeError(error) });
      }
      return false;
    }
  }

  #observe(lease: Lease): void {
    const renewTime = lease.spec?.renewTime;
    const changed = this.#observed === undefined || this.#observed.renewTime !== renewTime;
    const at = changed ? this.#options.clock.monotonic() : (this.#observed?.at ?? 0);
    this.#observed = { lease, renewTime, at };
  }

  #hasExpired(lease: Lease): boolean {
    const duration = (lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    return this.#observed !== undefined && this.#options.clock.monotonic() - this.#observed.at > duration;
  }

  #spec(old: Lease | undefined): NonNullable<Lease["spec"]> {
    const { identity, clock } = this.#options;
    // MicroTime: six digits after the point.
    const now = new Date(clock.now()).toISOString().replace("Z", "000Z");
    const mine = old?.spec?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#durationMs / 1000),
      acquireTime: mine ? (old?.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (old?.spec?.leaseTransitions ?? 0) + (old === undefined || mine ? 0 : 1),
    };
  }
}
