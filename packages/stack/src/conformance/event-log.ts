import type { DomainEvent, DomainStatus, Stack } from "../contract.ts";

const limitMs = 20_000;

/** Remembers what a stack reports and waits, with a limit, for what it should report. */
export class EventLog {
  readonly events: DomainEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(stack: Stack) {
    stack.lifecycle.subscribe((event) => {
      this.events.push(event);
      for (const check of this.#waiting) check();
    });
  }

  /** The first event, past or future, that fits. */
  async find<Kind extends DomainEvent["kind"]>(
    kind: Kind,
    fits: (event: Extract<DomainEvent, { kind: Kind }>) => boolean = () => true,
  ): Promise<Extract<DomainEvent, { kind: Kind }>> {
    const matches = (event: DomainEvent): event is Extract<DomainEvent, { kind: Kind }> =>
      // The kind was just compared; TypeScript does not narrow a union by a type parameter.
      event.kind === kind && fits(event as Extract<DomainEvent, { kind: Kind }>);
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const found = this.events.find(matches);
        if (found === undefined) return;
        clearTimeout(limit);
        this.#waiting.delete(check);
        resolve(found);
      };
      const limit = setTimeout(() => {
        this.#waiting.delete(check);
        reject(new Error(`no ${kind} event that fits within ${limitMs} ms; seen: ${JSON.stringify(this.events)}`));
      }, limitMs);
      this.#waiting.add(check);
      check();
    });
  }

  async status(state: DomainStatus["state"], reason?: DomainStatus["reason"]): Promise<DomainStatus> {
    const fits = (status: DomainStatus) => status.state === state && (reason === undefined || status.reason === reason);
    return (await this.find("status", (event) => fits(event.status))).status;
  }

  /** States in the order in which they were told. */
  states(): DomainStatus["state"][] {
    return this.events.flatMap((event) => (event.kind === "status" ? [event.status.state] : []));
  }

  forget(): void {
    this.events.length = 0;
  }
}
