import { connect, type Socket } from "node:net";

const limitMs = 20_000;

/** The far end of a serial port: what the guest wrote, and a way to type. */
export class ConsoleClient {
  #text = "";
  readonly #socket: Socket;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      this.#text += text;
      for (const check of this.#waiting) check();
    });
    socket.on("error", () => {
      // The machine may end while we listen; whoever waits for text runs into the limit.
    });
  }

  static open(path: string): Promise<ConsoleClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path, () => resolve(new ConsoleClient(socket)));
      socket.once("error", reject);
    });
  }

  /** Everything that the guest wrote since the client came. */
  get text(): string {
    return this.#text;
  }

  /** Only what the guest writes from now on counts. */
  forget(): void {
    this.#text = "";
  }

  type(text: string): void {
    this.#socket.write(text);
  }

  /** Types until the guest has echoed: it may not listen yet when the first letter comes. */
  async echo(text: string): Promise<void> {
    const seen = this.#text.length;
    for (let attempt = 0; attempt < 40; attempt += 1) {
      this.type(text);
      if (await this.read((all) => all.slice(seen).includes(text), 500)) return;
    }
    throw new Error(`the guest does not echo ${JSON.stringify(text)}; it wrote ${JSON.stringify(this.#text)}`);
  }

  /** Whether the guest answers to what is typed within a moment. */
  answers(text: string, withinMs: number): Promise<boolean> {
    const seen = this.#text.length;
    this.type(text);
    return this.read((all) => all.slice(seen).includes(text), withinMs);
  }

  async waitFor(text: string): Promise<void> {
    if (await this.read((all) => all.includes(text), limitMs)) return;
    throw new Error(`the guest did not write ${JSON.stringify(text)}; it wrote ${JSON.stringify(this.#text)}`);
  }

  close(): void {
    this.#socket.destroy();
  }

  private read(fits: (text: string) => boolean, forMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (result: boolean): void => {
        clearTimeout(limit);
        this.#waiting.delete(check);
        resolve(result);
      };
      const check = (): void => {
        if (fits(this.#text)) settle(true);
      };
      const limit = setTimeout(() => settle(false), forMs);
      this.#waiting.add(check);
      check();
    });
  }
}
