/** One field of a message on the wire. */
export interface WireField {
  readonly number: number;
  /** A varint, or the bytes of a string, byte array, message or fixed-size number. */
  readonly value: bigint | Buffer;
}

/** Splits a protobuf message into its fields; throws a RangeError when the bytes are none. */
export function* wireFields(bytes: Buffer): Generator<WireField> {
  let offset = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[offset++];
      if (byte === undefined) throw new RangeError("unexpected end of message");
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw new RangeError("a number is too long");
  };
  const take = (length: number): Buffer => {
    const end = offset + length;
    if (end > bytes.length) throw new RangeError("unexpected end of message");
    const slice = bytes.subarray(offset, end);
    offset = end;
    return slice;
  };
  while (offset < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    if (number === 0) throw new RangeError("field number 0 does not exist");
    switch (tag & 7) {
      case 0:
        yield { number, value: varint() };
        break;
      case 1:
        yield { number, value: take(8) };
        break;
      case 2:
        yield { number, value: take(Number(varint())) };
        break;
      case 5:
        yield { number, value: take(4) };
        break;
      default:
        throw new RangeError(`wire type ${tag & 7} is not known`);
    }
  }
}
