import type { Clock } from "@polyvirt/core";
import type { Domain } from "@polyvirt/domain";
import { errors, hasEnded, qemuAgentChannelName, type QemuAgentChannel } from "@polyvirt/stack";
import type { QemuLifecycle } from "../lifecycle/qemu-lifecycle.ts";
import type { QmpEvent } from "../qmp/qmp-client.ts";
import { AgentConnection } from "./agent-connection.ts";

interface ChannelDependencies {
  readonly lifecycle: QemuLifecycle;
  readonly clock: Clock;
}

/** The way to the guest's agent: the socket of the channel that the definition gives it, kept open while it runs. */
export class QemuLifecycleAgentChannel implements QemuAgentChannel {
  readonly #dependencies: ChannelDependencies;
  #connection: AgentConnection | undefined;
  #open = false;

  constructor(dependencies: ChannelDependencies) {
    this.#dependencies = dependencies;
    dependencies.lifecycle.subscribe((event) => {
      if (event.kind !== "status") return;
      if (event.status.state === "Running") this.#listen();
      if (hasEnded(event.status)) this.#hangUp();
    });
    dependencies.lifecycle.onMonitorEvent((event) => this.#onMonitorEvent(event));
  }

  isOpen(): boolean {
    return this.#open;
  }

  async execute(command: string, args: object | undefined, timeoutMs: number): Promise<unknown> {
    this.#dependencies.lifecycle.running("ask the guest agent of");
    if (this.#connection === undefined || !this.#open) {
      throw errors.StackGuestAgentUnavailable(`run ${command} in the guest: no agent has opened its channel`);
    }
    return this.#connection.execute(command, args, timeoutMs);
  }

  #listen(): void {
    const channel = agentChannel(this.#dependencies.lifecycle.domain()?.definition);
    if (channel === undefined || this.#connection !== undefined) return;
    this.#connection = new AgentConnection(channel.path, this.#dependencies.clock);
    // The agent may come later, or never; a command will try again.
    this.#connection.open().catch(() => undefined);
  }

  #hangUp(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#open = false;
  }

  #onMonitorEvent({ name, data }: QmpEvent): void {
    if (name !== "VSERPORT_CHANGE") return;
    const channel = agentChannel(this.#dependencies.lifecycle.domain()?.definition);
    if (channel === undefined || data["id"] !== channel.id) return;
    this.#open = data["open"] === true;
    this.#connection?.forgetSynchronization();
    this.#dependencies.lifecycle.report({ kind: "guestAgent", connected: this.#open });
  }
}

/** The channel of the definition that is the agent's: its id in QEMU, and the socket at our end. */
function agentChannel(definition: Domain | undefined): { id: string; path: string } | undefined {
  const channels = definition?.devices?.channels ?? [];
  const index = channels.findIndex(({ target }) => target?.name === qemuAgentChannelName);
  const channel = channels[index];
  const path = channel?.sources?.[0]?.path;
  return path === undefined ? undefined : { id: channel?.alias?.name ?? `channel${index}`, path };
}
