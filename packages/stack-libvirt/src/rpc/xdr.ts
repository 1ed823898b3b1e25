/**
 * XDR (RFC 4506), as much of it as libvirt's protocol uses. A type is a value that can write and read itself, so that
 * the layout of a message is a table (`remote-program.ts`) and its TypeScript type follows from the table.
 */
export interface XdrType<T> {
  write(writer: XdrWriter, value: T): void;
  read(reader: XdrReader): T;
}

export type Infer<Type> = Type extends XdrType<infer T> ? T : never;

/** Longest text or list that is believed; libvirt's own limit for texts. */
const maxLength = 4 * 1024 * 1024;
const wordBytes = 4;

class XdrWriter {
  #buffer = Buffer.alloc(1024);
  #length = 0;

  /** Room for the next bytes, as a view to be filled. */
  reserve(bytes: number): Buffer {
    const end = this.#length + bytes;
    if (end > this.#buffer.length) {
      const grown = Buffer.alloc(Math.max(end, this.#buffer.length * 2));
      this.#buffer.copy(grown);
      this.#buffer = grown;
    }
    const view = this.#buffer.subarray(this.#length, end);
    this.#length = end;
    return view;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

class XdrReader {
  readonly #buffer: Buffer;
  #offset = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  take(bytes: number): Buffer {
    if (this.#offset + bytes > this.#buffer.length) {
      throw new RangeError(`XDR: ${bytes} bytes wanted, ${this.#buffer.length - this.#offset} are left`);
    }
    this.#offset += bytes;
    return this.#buffer.subarray(this.#offset - bytes, this.#offset);
  }
}

export const int: XdrType<number> = {
  write: (writer, value) => void writer.reserve(wordBytes).writeInt32BE(value),
  read: (reader) => reader.take(wordBytes).readInt32BE(),
};

export const uint: XdrType<number> = {
  write: (writer, value) => void writer.reserve(wordBytes).writeUInt32BE(value),
  read: (reader) => reader.take(wordBytes).readUInt32BE(),
};

export const hyper: XdrType<bigint> = {
  write: (writer, value) => void writer.reserve(8).writeBigInt64BE(value),
  read: (reader) => reader.take(8).readBigInt64BE(),
};

export const unsignedHyper: XdrType<bigint> = {
  write: (writer, value) => void writer.reserve(8).writeBigUInt64BE(value),
  read: (reader) => reader.take(8).readBigUInt64BE(),
};

export const double: XdrType<number> = {
  write: (writer, value) => void writer.reserve(8).writeDoubleBE(value),
  read: (reader) => reader.take(8).readDoubleBE(),
};

export const nothing: XdrType<undefined> = { write: () => {}, read: () => undefined };

/** A fixed number of bytes, filled up to whole words. */
export function fixedOpaque(length: number): XdrType<Buffer> {
  const padded = Math.ceil(length / wordBytes) * wordBytes;
  return {
    write: (writer, value) => void value.copy(writer.reserve(padded), 0, 0, length),
    read: (reader) => Buffer.from(reader.take(padded).subarray(0, length)),
  };
}

export const opaque: XdrType<Buffer> = {
  write(writer, value) {
    uint.write(writer, value.length);
    fixedOpaque(value.length).write(writer, value);
  },
  read: (reader) => fixedOpaque(readLength(reader)).read(reader),
};

export const text: XdrType<string> = {
  write: (writer, value) => opaque.write(writer, Buffer.from(value)),
  read: (reader) => opaque.read(reader).toString(),
};

/** What may be absent: a flag, then the value. */
export function optional<T>(type: XdrType<T>): XdrType<T | undefined> {
  return {
    write(writer, value) {
      uint.write(writer, value === undefined ? 0 : 1);
      if (value !== undefined) type.write(writer, value);
    },
    read: (reader) => (uint.read(reader) === 0 ? undefined : type.read(reader)),
  };
}

export function list<T>(type: XdrType<T>): XdrType<readonly T[]> {
  return {
    write(writer, values) {
      uint.write(writer, values.length);
      for (const value of values) type.write(writer, value);
    },
    read: (reader) => Array.from({ length: readLength(reader) }, () => type.read(reader)),
  };
}

type StructOf<Fields> = { readonly [Name in keyof Fields]: Infer<Fields[Name]> };

/** One field after the other, in the order of the table. */
export function struct<const Fields extends Readonly<Record<string, object>>>(
  fields: Fields,
): XdrType<StructOf<Fields>> {
  // The parameter is not `XdrType` itself because a table of different types has no common one; callers pass only those.
  const members = Object.entries(fields) as [string, XdrType<unknown>][];
  return {
    write(writer, value) {
      for (const [name, type] of members) type.write(writer, (value as Readonly<Record<string, unknown>>)[name]);
    },
    // Built from the same table from which the type follows.
    read: (reader) => Object.fromEntries(members.map(([name, type]) => [name, type.read(reader)])) as StructOf<Fields>,
  };
}

export function encode<T>(type: XdrType<T>, value: T): Buffer {
  const writer = new XdrWriter();
  type.write(writer, value);
  return writer.bytes();
}

export function decode<T>(type: XdrType<T>, bytes: Buffer): T {
  return type.read(new XdrReader(bytes));
}

function readLength(reader: XdrReader): number {
  const length = uint.read(reader);
  if (length > maxLength) throw new RangeError(`XDR: a length of ${length} is beyond reason`);
  return length;
}
