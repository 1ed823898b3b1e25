/** What clients were told, checked against what the server holds and what watchers saw. */

/** One value that the server acknowledged, with the version it got. */
export interface Acknowledged {
  readonly name: string;
  readonly value: number;
  readonly version: number;
}

export interface Witnessed {
  readonly type: string;
  readonly name: string;
  readonly value: number;
  readonly version: number;
}

/** Acknowledged writes that the server no longer knows: an object holds less than what was acknowledged for it. */
export function lostWrites(
  acknowledged: readonly Acknowledged[],
  held: ReadonlyMap<string, number>,
): readonly Acknowledged[] {
  return acknowledged.filter(({ name, value }) => (held.get(name) ?? -1) < value);
}

/** Events of one unbroken watch that came in the wrong order or twice. */
export function outOfOrder(events: readonly Witnessed[]): readonly Witnessed[] {
  return events.filter((event, index) => index > 0 && event.version <= (events[index - 1]?.version ?? 0));
}

/**
 * Acknowledged writes inside the span that a watcher saw without a break, of which it was not told. A watcher that was sent
 * away with 410 begins a new span.
 */
export function missedEvents(
  acknowledged: readonly Acknowledged[],
  span: { readonly from: number; readonly events: readonly Witnessed[] },
): readonly Acknowledged[] {
  const last = span.events.at(-1)?.version ?? span.from;
  const seen = new Set(span.events.map(({ version }) => version));
  return acknowledged.filter(({ version }) => version > span.from && version <= last && !seen.has(version));
}
