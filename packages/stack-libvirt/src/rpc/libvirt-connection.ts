import { connect, type Socket } from "node:net";
import type { Clock, Timer } from "@polyvirt/core";
import { errors } from "@polyvirt/stack";
import { stackError } from "./libvirt-error.ts";
import { header, headerBytes, lengthBytes, MessageReader, messageTypes, statuses, type Header } from "./message.ts";
import {
  errorMessage,
  events,
  keepalive,
  keepaliveProcedures,
  procedures,
  type EventMessage,
  type EventName,
  type Procedure,
} from "./remote-program.ts";
import { decode, encode, type XdrType } from "./xdr.ts";

interface ConnectionDependencies {
  readonly socketPath: string;
  readonly clock: Pick<Clock, "setTimer">;
  readonly onEvent: (event: LibvirtEvent) => void;
  /** Called once when the connection is lost, whoever closed it. */
  readonly onClose: () => void;
}

/** An event by its name in `remote-program.ts`. */
export type LibvirtEvent = {
  [Name in EventName]: { readonly name: Name; readonly message: EventMessage<Name> };
}[EventName];

interface CallOptions {
  /** What the caller is about, for messages: "pause the machine". */
  readonly operation: string;
  /** Absent for calls that take as long as they take, such as a migration. */
  readonly timeoutMs?: number | undefined;
}

interface PendingCall {
  readonly options: CallOptions;
  readonly timer: Timer | undefined;
  readonly resolve: (payload: Buffer) => void;
  readonly reject: (error: Error) => void;
  /** For calls whose result is followed by a stream of bytes. */
  readonly stream?: { readonly chunks: Buffer[]; reply: Buffer | undefined };
}

/** libvirt's driver for machines of one user. */
const sessionUri = "qemu:///session";
const keepaliveFeature = 10;
const openTimeoutMs = 15_000;

/** One connection to a libvirt daemon: calls with answers, events, streams that the daemon sends, and keep-alive. */
export class LibvirtConnection {
  readonly #dependencies: ConnectionDependencies;
  readonly #socket: Socket;
  readonly #reader = new MessageReader();
  readonly #calls = new Map<number, PendingCall>();
  #serial = 0;
  #closed = false;

  private constructor(dependencies: ConnectionDependencies, socket: Socket) {
    this.#dependencies = dependencies;
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", () => this.#end());
    socket.on("close", () => this.#end());
  }

  /** Connects and opens the driver; rejects with StackDaemonLost when nobody listens. */
  static async open(dependencies: ConnectionDependencies): Promise<LibvirtConnection> {
    const socket = await dial(dependencies.socketPath);
    const connection = new LibvirtConnection(dependencies, socket);
    const options = { operation: "connect to libvirt", timeoutMs: openTimeoutMs };
    try {
      await connection.call(procedures.authList, undefined, options);
      await connection.call(procedures.connectOpen, { name: sessionUri, flags: 0 }, options);
      // The daemon looks after connections whose clients say that they know the pings.
      await connection.call(procedures.connectSupportsFeature, { feature: keepaliveFeature }, options);
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  async call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, options: CallOptions): Promise<Result> {
    return decode(procedure.result, await this.#send(procedure, args, options));
  }

  /** A call whose answer is followed by bytes, such as a picture. */
  async download<Args, Result>(
    procedure: Procedure<Args, Result>,
    args: Args,
    options: CallOptions,
  ): Promise<{ result: Result; data: Buffer }> {
    const stream = { chunks: [] as Buffer[], reply: undefined };
    const reply = await this.#send(procedure, args, options, stream);
    return { result: decode(procedure.result, reply), data: Buffer.concat(stream.chunks) };
  }

  /** Asks the daemon to send events of these kinds about every machine. */
  async listen(names: readonly Exclude<EventName, "monitor">[], monitorEvents: readonly string[]): Promise<void> {
    const options = { operation: "listen to libvirt's events", timeoutMs: openTimeoutMs };
    for (const name of names) {
      const request = { eventId: events[name].id ?? 0, domain: undefined };
      await this.call(procedures.connectDomainEventCallbackRegisterAny, request, options);
    }
    for (const event of monitorEvents) {
      const request = { domain: undefined, event, flags: 0 };
      await this.call(procedures.qemuConnectDomainMonitorEventRegister, request, options);
    }
  }

  close(): void {
    this.#socket.destroy();
    this.#end();
  }

  #send<Args>(
    procedure: Procedure<Args, unknown>,
    args: Args,
    options: CallOptions,
    stream?: PendingCall["stream"],
  ): Promise<Buffer> {
    const { operation, timeoutMs } = options;
    if (this.#closed) return Promise.reject(gone(operation));
    const serial = (this.#serial += 1);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        // A late answer finds its serial number gone and is dropped.
        this.#calls.delete(serial);
        reject(errors.StackTimeout(`${operation}: libvirt gave no answer within ${timeoutMs} ms`));
      };
      const timer = timeoutMs === undefined ? undefined : this.#dependencies.clock.setTimer(timeoutMs, giveUp);
      this.#calls.set(serial, { options, timer, resolve, reject, ...(stream && { stream }) });
      this.#write({ procedure, type: messageTypes.call, serial }, procedure.args, args);
    });
  }

  #write<T>(
    about: { procedure: Pick<Procedure<unknown, unknown>, "program" | "number">; type: number; serial: number },
    layout: XdrType<T>,
    value: T,
  ): void {
    const body = encode(layout, value);
    const { program, number } = about.procedure;
    const head = encode(header, {
      program: program.number,
      version: program.version,
      procedure: number,
      type: about.type,
      serial: about.serial,
      status: statuses.ok,
    });
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt32BE(lengthBytes + head.length + body.length);
    this.#socket.write(Buffer.concat([length, head, body]));
  }

  #receive(chunk: Buffer): void {
    try {
      for (const message of this.#reader.push(chunk)) {
        this.#dispatch(decode(header, message), Buffer.from(message.subarray(headerBytes)));
      }
    } catch {
      // Not libvirt's protocol: whoever waits hears that the daemon is gone.
      this.close();
    }
  }

  #dispatch(head: Header, body: Buffer): void {
    if (head.program === keepalive.number) {
      if (head.procedure === keepaliveProcedures.ping) this.#pong();
    } else if (head.type === messageTypes.message) {
      this.#event(head, body);
    } else {
      const call = this.#calls.get(head.serial);
      if (call === undefined) return;
      if (head.status === statuses.error) this.#fail(head.serial, call, body);
      else if (head.type === messageTypes.stream) this.#streamed(head, call, body);
      else this.#replied(head, call, body);
    }
  }

  #replied({ serial }: Header, call: PendingCall, body: Buffer): void {
    if (call.stream === undefined) this.#settle(serial, call, () => call.resolve(body));
    else call.stream.reply = body;
  }

  /** Bytes come until an empty packet, to which the daemon wants an answer. */
  #streamed(head: Header, call: PendingCall, body: Buffer): void {
    if (call.stream === undefined) return;
    if (body.length > 0) {
      call.stream.chunks.push(body);
      return;
    }
    if (head.status === statuses.continue) {
      const procedure = { program: { number: head.program, version: head.version }, number: head.procedure };
      this.#write({ procedure, type: messageTypes.stream, serial: head.serial }, bytes, Buffer.alloc(0));
    }
    const { reply = Buffer.alloc(0) } = call.stream;
    this.#settle(head.serial, call, () => call.resolve(reply));
  }

  #fail(serial: number, call: PendingCall, body: Buffer): void {
    const { code, message } = decode(errorMessage, body);
    this.#settle(serial, call, () => call.reject(stackError(call.options.operation, { code, message })));
  }

  #settle(serial: number, call: PendingCall, conclude: () => void): void {
    this.#calls.delete(serial);
    call.timer?.cancel();
    conclude();
  }

  #event(head: Header, body: Buffer): void {
    const found = Object.entries(events).find(
      ([, event]) => event.program.number === head.program && event.number === head.procedure,
    );
    if (found === undefined) return;
    const [name, { message }] = found;
    // Name and layout come from one row of the table.
    this.#dependencies.onEvent({ name, message: decode(message as XdrType<unknown>, body) } as LibvirtEvent);
  }

  #pong(): void {
    const procedure = { program: keepalive, number: keepaliveProcedures.pong };
    this.#write({ procedure, type: messageTypes.message, serial: 0 }, bytes, Buffer.alloc(0));
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) {
      call.timer?.cancel();
      call.reject(gone(call.options.operation));
    }
    this.#dependencies.onClose();
  }
}

/** Bytes as they are, without a length. */
const bytes: XdrType<Buffer> = {
  write: (writer, value) => void value.copy(writer.reserve(value.length)),
  read: (reader) => reader.take(0),
};

function gone(operation: string): Error {
  return errors.StackDaemonLost(`${operation}: the connection to the libvirt daemon is lost`);
}

function dial(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.off("error", fail);
      resolve(socket);
    });
    const fail = (cause: Error): void =>
      reject(errors.StackDaemonLost(`connect to the libvirt daemon at ${path}`, { cause }));
    socket.once("error", fail);
  });
}
