import { appendFileSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { Domain } from "@polyvirt/domain";
import { bootSectorGreeting } from "../conformance/boot-sector.ts";

/** What the guest does to its machine. */
export interface GuestActions {
  powerOff(): void;
  reboot(): void;
  panic(): void;
}

/** What a guest knows, and takes along when it is moved. */
export interface GuestMemory {
  readonly booted: boolean;
  readonly ignoresButton: boolean;
}

/**
 * A guest that needs no machine: it greets on its serial socket, echoes, and obeys the letters of the conformance suite's
 * boot sector (Q powers off, R reboots, I ignores the power button, P panics).
 */
export class FakeGuest {
  readonly #actions: GuestActions;
  readonly #servers: Server[] = [];
  readonly #clients = new Set<Socket>();
  readonly #log: string | undefined;
  #ignoresButton = false;
  #running = false;
  #booted = false;

  constructor(domain: Domain, actions: GuestActions) {
    this.#actions = actions;
    this.#log = domain.devices?.serials?.[0]?.log?.file;
  }

  /** Opens the sockets that the definition names. */
  async plugIn(domain: Domain): Promise<void> {
    const serial = domain.devices?.serials?.[0]?.sources?.[0]?.path;
    const [display] = domain.devices?.graphics ?? [];
    const vnc = display?.socket ?? display?.listens?.[0]?.socket;
    if (serial !== undefined)
      await this.#serve(serial, (socket) => socket.on("data", (text: string) => this.#hear(text)));
    if (vnc !== undefined) await this.#serve(vnc, (socket) => socket.write("RFB 003.008\n"));
  }

  run(): void {
    if (this.#running) return;
    this.#running = true;
    if (!this.#booted) this.#say(bootSectorGreeting);
    this.#booted = true;
  }

  stop(): void {
    this.#running = false;
  }

  /** Stops it, so that it can go on elsewhere from what it knows. */
  freeze(): GuestMemory {
    this.stop();
    return { booted: this.#booted, ignoresButton: this.#ignoresButton };
  }

  remember({ booted, ignoresButton }: GuestMemory): void {
    this.#booted = booted;
    this.#ignoresButton = ignoresButton;
  }

  restart(): void {
    this.#ignoresButton = false;
    this.#say(bootSectorGreeting);
  }

  pressButton(): void {
    if (this.#running && !this.#ignoresButton) this.#actions.powerOff();
  }

  unplug(): void {
    this.#running = false;
    for (const client of this.#clients) client.destroy();
    for (const server of this.#servers) server.close();
  }

  #hear(text: string): void {
    if (!this.#running) return;
    for (const letter of text) {
      if (letter === "Q") return this.#actions.powerOff();
      if (letter === "P") return this.#actions.panic();
      if (letter === "R") this.#actions.reboot();
      else this.#say(letter);
      if (letter === "I") this.#ignoresButton = true;
    }
  }

  #say(text: string): void {
    if (this.#log !== undefined) appendFileSync(this.#log, text);
    for (const client of this.#clients) client.write(text);
  }

  #serve(path: string, onClient: (socket: Socket) => void): Promise<void> {
    const server = createServer((socket) => {
      this.#clients.add(socket);
      socket.setEncoding("utf8");
      socket.on("error", () => socket.destroy());
      socket.on("close", () => this.#clients.delete(socket));
      onClient(socket);
    });
    this.#servers.push(server);
    rmSync(path, { force: true });
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
  }
}
