import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import type { DomainDocument } from "@polyvirt/protocol";

/** The other end: the node agent, or a stand-in for tests. */
export interface NotifyChannel {
  sendDomain(type: DomainEventType, domain: DomainDocument): Promise<void>;
  sendEvent(event: object): Promise<void>;
  close(): void;
}

type DomainEventType = "ADDED" | "MODIFIED" | "DELETED";

interface Pending {
  readonly type: DomainEventType;
  readonly domain: DomainDocument;
}

const firstRetryMs = 50;
const lastRetryMs = 1_000;
/** Events for people are kept up to this many; the oldest go first, and the log says so. */
const maxEvents = 100;

interface NotifierDependencies {
  readonly channel: NotifyChannel;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Tells the node agent about the machine. A state that was overtaken by a newer one need not be told; the last one always
 * is, for as long as the launcher lives, and a machine's end is told before its deletion. Nothing is sent twice at a time.
 */
export class Notifier {
  readonly #dependencies: NotifierDependencies;
  readonly #states: Pending[] = [];
  readonly #events: object[] = [];
  readonly #idle = new Set<() => void>();
  readonly #stop = new AbortController();
  #working = false;
  #announced = false;

  constructor(dependencies: NotifierDependencies) {
    this.#dependencies = dependencies;
  }

  /** The machine's state has changed. */
  publish(domain: DomainDocument): void {
    const last = this.#states.at(-1);
    if (last !== undefined && last.type !== "DELETED") this.#states.pop();
    const type = last?.type === "ADDED" || !this.#announced ? "ADDED" : "MODIFIED";
    this.#announced = true;
    this.#states.push({ type, domain });
    this.#work();
  }

  /** The machine is gone for good. */
  publishDeleted(domain: DomainDocument): void {
    this.#states.push({ type: "DELETED", domain });
    this.#announced = false;
    this.#work();
  }

  /** Something that people want to read, as a Kubernetes Event. */
  publishEvent(event: object): void {
    this.#events.push(event);
    if (this.#events.length > maxEvents) {
      this.#dependencies.logger.warn("too many events wait for the node agent; the oldest is dropped", {
        event: this.#events.shift(),
      });
    }
    this.#work();
  }

  /** True when everything was acknowledged within the limit; whoever is in a hurry meanwhile sets a shorter one. */
  async flush(limitMs: number, hurry?: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<boolean> {
    if (!this.#working) return true;
    const { clock } = this.#dependencies;
    return new Promise((resolve) => {
      const finish = (heard: boolean): void => {
        timer.cancel();
        hurry?.signal.removeEventListener("abort", shorten);
        this.#idle.delete(done);
        resolve(heard);
      };
      const done = (): void => finish(true);
      const shorten = (): void => {
        timer.cancel();
        timer = clock.setTimer(hurry?.limitMs ?? limitMs, () => finish(false));
      };
      let timer = clock.setTimer(limitMs, () => finish(false));
      if (hurry?.signal.aborted === true) shorten();
      else hurry?.signal.addEventListener("abort", shorten, { once: true });
      this.#idle.add(done);
    });
  }

  close(): void {
    this.#stop.abort();
    this.#dependencies.channel.close();
  }

  #work(): void {
    if (this.#working) return;
    this.#working = true;
    void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    let retryMs = firstRetryMs;
    while (!this.#stop.signal.aborted && (this.#states.length > 0 || this.#events.length > 0)) {
      if (await this.#sendNext()) {
        retryMs = firstRetryMs;
        continue;
      }
      await this.#dependencies.clock.sleep(retryMs, this.#stop.signal).catch(() => undefined);
      retryMs = Math.min(retryMs * 2, lastRetryMs);
    }
    this.#working = false;
    for (const done of this.#idle) done();
    this.#idle.clear();
  }

  /** False when it should be tried again. States go before events: they decide what happens to the machine. */
  async #sendNext(): Promise<boolean> {
    const { channel, logger } = this.#dependencies;
    const state = this.#states.shift();
    const event = state === undefined ? this.#events.shift() : undefined;
    try {
      if (state !== undefined) await channel.sendDomain(state.type, state.domain);
      else if (event !== undefined) await channel.sendEvent(event);
      return true;
    } catch (error) {
      const lost = !isTransient(error);
      logger.warn(lost ? "the node agent refused a notification" : "the node agent does not answer; trying again", {
        error: describeError(error),
        state: state?.domain.Status,
        event,
      });
      // A newer state has taken its place while it was on its way; a refusal would be refused again.
      if (!lost && event !== undefined) this.#events.unshift(event);
      if (!lost && state !== undefined) this.#putBack(state);
      return lost;
    }
  }

  #putBack(state: Pending): void {
    const newer = this.#states[0];
    if (newer === undefined || newer.type === "DELETED") this.#states.unshift(state);
    // The agent has never heard of the machine, so the newer state is what announces it.
    else if (state.type === "ADDED") this.#states[0] = { type: "ADDED", domain: newer.domain };
  }
}

function isTransient(error: unknown): boolean {
  if (hasCode(error, "ProtocolUnavailable") || hasCode(error, "ProtocolTimeout")) return true;
  if (!hasCode(error, "ProtocolCallFailed")) return false;
  return ["ABORTED", "CANCELLED", "UNKNOWN", "INTERNAL", "RESOURCE_EXHAUSTED"].includes(
    String(error.fields["grpcStatus"]),
  );
}
