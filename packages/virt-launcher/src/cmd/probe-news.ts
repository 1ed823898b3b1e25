import { describeError } from "@polyvirt/core";

const maxMessage = 512;

/**
 * Commands and pings come from the probes of the VMI. The kubelet tells the pod's readers when one fails; this tells those
 * of the VMI, once for each time that it begins to fail.
 */
export class ProbeNews {
  readonly #onFailure: (message: string) => void;
  readonly #failing = new Set<string>();

  constructor(onFailure: (message: string) => void) {
    this.#onFailure = onFailure;
  }

  /** Asks, and hands on the answer or the failure. `judge` says what is wrong with an answer, if anything. */
  async watch<T>(probe: string, ask: () => Promise<T>, judge: (answer: T) => string | undefined): Promise<T> {
    try {
      const answer = await ask();
      this.#note(probe, judge(answer));
      return answer;
    } catch (error) {
      this.#note(probe, describeError(error));
      throw error;
    }
  }

  #note(probe: string, failure: string | undefined): void {
    if (failure === undefined) return void this.#failing.delete(probe);
    if (this.#failing.has(probe)) return;
    this.#failing.add(probe);
    // SAFETY: part of it may be the guest's own words.
    this.#onFailure(`${probe}: ${failure}`.replaceAll(/\p{Cc}/gu, " ").slice(0, maxMessage));
  }
}
