import { isJsonObject, type JsonValue } from "@polyvirt/core";
import { errors, hasEnded, type QemuAgentChannel } from "@polyvirt/stack";
import type { LibvirtLifecycle } from "../lifecycle/libvirt-lifecycle.ts";
import { procedures } from "../rpc/remote-program.ts";

/** libvirt itself waits for the agent; its answer that none came must still find us waiting. */
const slackMs = 5_000;

/** The way to the guest's agent through libvirt, which holds the channel open and watches who comes and goes. */
export class LibvirtAgentChannel implements QemuAgentChannel {
  readonly #lifecycle: LibvirtLifecycle;
  #open = false;

  constructor(lifecycle: LibvirtLifecycle) {
    this.#lifecycle = lifecycle;
    lifecycle.subscribe((event) => {
      if (event.kind === "guestAgent") this.#open = event.connected;
      if (event.kind === "status" && hasEnded(event.status)) this.#open = false;
    });
  }

  isOpen(): boolean {
    return this.#open;
  }

  async execute(command: string, args: object | undefined, timeoutMs: number): Promise<unknown> {
    const { handle } = this.#lifecycle.running("ask the guest agent of");
    if (!this.#open) {
      throw errors.StackGuestAgentUnavailable(`run ${command} in the guest: no agent has opened its channel`);
    }
    const { answer } = await this.#lifecycle.call(
      procedures.qemuDomainAgentCommand,
      {
        domain: handle,
        command: JSON.stringify({ execute: command, ...(args && { arguments: args }) }),
        timeoutSeconds: Math.max(1, Math.ceil(timeoutMs / 1000)),
        flags: 0,
      },
      `run ${command} in the guest`,
      timeoutMs + slackMs,
    );
    return readReturn(answer);
  }
}

function readReturn(answer: string | undefined): unknown {
  try {
    // What JSON.parse returns is a JSON value.
    const value = JSON.parse(answer ?? "{}") as JsonValue;
    return isJsonObject(value) ? value["return"] : undefined;
  } catch (cause) {
    throw errors.StackGuestAgentUnavailable("read the guest agent's answer: it is not JSON", { cause });
  }
}
