import { describeError, type Clock } from "@polyvirt/core";
import { errors } from "@polyvirt/stack";
import { LibvirtConnection } from "../rpc/libvirt-connection.ts";
import { procedures, type DomainHandle } from "../rpc/remote-program.ts";
import type { TypedParameter } from "../rpc/typed-parameter.ts";

/** The definition at rest, with what is secret in it. */
const inactiveAndSecret = 1 | 2;
const lookTimeoutMs = 10_000;
/** QEMU has to start. */
const prepareTimeoutMs = 120_000;

/** A note that the target attaches to its definition: where its QEMU will listen, which only the target can know. */
const note = { type: 2, uri: "urn:polyvirt:incoming", key: "polyvirt", element: "incoming" } as const;
const atRest = 2;

export function incomingNote(domain: DomainHandle, path: string) {
  const { type, uri, key, element } = note;
  const escaped = path.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return { domain, type, metadata: `<${element}>${escaped}</${element}>`, key, uri, flags: atRest };
}

function readNote(xml: string): string {
  const path = />([^<]*)</.exec(xml)?.[1] ?? "";
  return path.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** The daemon of the launcher that is to receive the machine, as the source sees it. */
export class MigrationTarget {
  /** The same machine with the target's paths. */
  readonly definition: string;
  /** Where QEMU is to listen there. */
  readonly incoming: string;
  readonly #connection: LibvirtConnection;

  private constructor(connection: LibvirtConnection, definition: string, incoming: string) {
    this.#connection = connection;
    this.definition = definition;
    this.incoming = incoming;
  }

  static async open(socketPath: string, name: string, clock: Clock): Promise<MigrationTarget> {
    const options = { operation: `find ${name} at the target`, timeoutMs: lookTimeoutMs };
    let connection: LibvirtConnection | undefined;
    try {
      connection = await LibvirtConnection.open({ socketPath, clock, onEvent: () => {}, onClose: () => {} });
      const { domain } = await connection.call(procedures.domainLookupByName, { name }, options);
      const question = { domain, flags: inactiveAndSecret };
      const { xml } = await connection.call(procedures.domainGetXmlDesc, question, options);
      const about = { domain, type: note.type, uri: note.uri, flags: atRest };
      const { metadata } = await connection.call(procedures.domainGetMetadata, about, options);
      return new MigrationTarget(connection, xml, readNote(metadata));
    } catch (cause) {
      connection?.close();
      throw errors.StackCommandFailed(
        `move the machine: nobody waits for it at ${socketPath} (${describeError(cause)}); it runs on here`,
        { cause },
      );
    }
  }

  /** Starts QEMU there. Returns what the source is to be told. */
  async prepare(parameters: readonly TypedParameter[], cookie: Buffer, flags: number): Promise<Buffer> {
    const options = { operation: "make the target ready", timeoutMs: prepareTimeoutMs };
    const request = { parameters, cookie, flags };
    return (await this.#connection.call(procedures.domainMigratePrepare3Params, request, options)).cookie;
  }

  /** Lets the machine run there, or ends what is there of it. With post-copy it takes until all of the memory is there. */
  async finish(
    parameters: readonly TypedParameter[],
    cookie: Buffer,
    flags: number,
    cancelled: boolean,
  ): Promise<Buffer> {
    const options = { operation: "let the machine run at the target" };
    const request = { parameters, cookie, flags, cancelled: cancelled ? 1 : 0 };
    return (await this.#connection.call(procedures.domainMigrateFinish3Params, request, options)).cookie;
  }

  close(): void {
    this.#connection.close();
  }
}
