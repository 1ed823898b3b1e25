import type { VirtualMachineInstance } from "@polyvirt/api";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import type { GuestAgent } from "@polyvirt/stack";
import {
  afterStep,
  needsAgent,
  noCredentials,
  planCredentials,
  wantedCredentials,
  type CredentialStep,
  type WantedCredentials,
} from "./credential-plan.ts";
import type { SecretValues } from "./credential-secrets.ts";

export interface CredentialSyncDependencies {
  readonly agent: Pick<GuestAgent, "addAuthorizedKeys" | "removeAuthorizedKeys" | "setPassword"> | undefined;
  readonly readSecret: (secretName: string) => SecretValues;
  readonly clock: Pick<Clock, "sleep">;
  readonly logger: Logger;
  /** Hears of each change: that all is in the guest, or why not. */
  readonly onResult: (result: CredentialResult) => void;
}

export interface CredentialResult {
  readonly succeeded: boolean;
  readonly message: string;
}

/** The kubelet takes longer to bring a changed secret; more often helps nobody. */
const lookEveryMs = 5_000;
/** What keeps failing is tried again after eighty seconds. */
const maxFailures = 4;
const maxMessage = 512;

/**
 * Keeps the credentials of the guest's users as the VMI and its secrets say, through the guest's agent: when the agent
 * comes, and whenever a secret has changed. What failed is tried again at the next look.
 */
export class CredentialSync {
  readonly #dependencies: CredentialSyncDependencies;
  readonly #stop = new AbortController();
  #vmi: VirtualMachineInstance | undefined;
  #given: WantedCredentials = noCredentials;
  #connected = false;
  /** One after the other; each makes the next look come later. */
  #failures = 0;
  #result: CredentialResult | undefined;

  constructor(dependencies: CredentialSyncDependencies) {
    this.#dependencies = dependencies;
  }

  /** The outcome of the last try; undefined before the first. */
  result(): CredentialResult | undefined {
    return this.#result;
  }

  /** Begins to look after the credentials of this VMI. Without any for the agent nothing ever runs. */
  start(vmi: VirtualMachineInstance): void {
    if (this.#vmi !== undefined || !needsAgent(vmi)) return;
    this.#vmi = vmi;
    this.#follow().catch((error: unknown) => {
      if (!this.#stop.signal.aborted)
        this.#dependencies.logger.error("credentials are not followed any more", { error });
    });
  }

  /** A guest whose agent comes anew may have lost everything that it was given. */
  agentChanged(connected: boolean): void {
    this.#connected = connected;
    this.#given = noCredentials;
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    for (;;) {
      if (this.#connected) await this.look();
      await this.#dependencies.clock.sleep(lookEveryMs * 2 ** this.#failures, this.#stop.signal);
    }
  }

  /** Compares once, and does what is missing. */
  async look(): Promise<void> {
    const vmi = this.#vmi;
    if (vmi === undefined) return;
    let given = this.#given;
    try {
      const wanted = wantedCredentials(vmi, this.#dependencies.readSecret);
      for (const step of planCredentials(wanted, given)) {
        await this.#carryOut(step);
        // The agent went and came meanwhile, and has to be given everything again: at the next look.
        if (this.#given !== given) return;
        this.#given = given = afterStep(given, step);
      }
      this.#report({ succeeded: true, message: "" });
    } catch (error) {
      this.#report({ succeeded: false, message: plain(describeError(error)) });
    }
  }

  async #carryOut(step: CredentialStep): Promise<void> {
    const { agent } = this.#dependencies;
    if (agent === undefined) throw new Error("this launcher's stack has no guest agent");
    switch (step.act) {
      case "addKeys":
        return agent.addAuthorizedKeys(step.user, step.keys);
      case "removeKeys":
        return agent.removeAuthorizedKeys(step.user, step.keys);
      case "setPassword":
        return agent.setPassword(step.user, step.password);
    }
  }

  #report(result: CredentialResult): void {
    const { succeeded, message } = this.#result ?? {};
    this.#result = result;
    this.#failures = result.succeeded ? 0 : Math.min(this.#failures + 1, maxFailures);
    if (succeeded === result.succeeded && message === result.message) return;
    this.#dependencies.logger.info("credentials", { succeeded: result.succeeded, reason: result.message });
    this.#dependencies.onResult(result);
  }
}

/** SAFETY: part of it may be the guest's own words. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").slice(0, maxMessage);
}
