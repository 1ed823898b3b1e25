import { double, hyper, int, list, text, uint, unsignedHyper, type XdrType } from "./xdr.ts";

/** libvirt's named values of several types, as it uses them for statistics and for parameters of a migration. */
export interface TypedParameter {
  readonly field: string;
  readonly type: ParameterType;
  readonly value: number | bigint | boolean | string;
}

const boolean: XdrType<boolean> = {
  write: (writer, value) => int.write(writer, value ? 1 : 0),
  read: (reader) => int.read(reader) !== 0,
};

/** In the order of their numbers, which begin with 1. */
const kinds = [
  { type: "int", codec: int },
  { type: "uint", codec: uint },
  { type: "llong", codec: hyper },
  { type: "ullong", codec: unsignedHyper },
  { type: "double", codec: double },
  { type: "boolean", codec: boolean },
  { type: "string", codec: text },
] as const;

type ParameterType = (typeof kinds)[number]["type"];

const parameter: XdrType<TypedParameter> = {
  write(writer, { field, type, value }) {
    text.write(writer, field);
    const index = kinds.findIndex((kind) => kind.type === type);
    int.write(writer, index + 1);
    // The caller pairs a type with a value of it.
    const codec = kinds[index]?.codec as XdrType<unknown> | undefined;
    codec?.write(writer, value);
  },
  read(reader) {
    const field = text.read(reader);
    const number = int.read(reader);
    const kind = kinds[number - 1];
    if (kind === undefined) throw new RangeError(`XDR: ${field} has the unknown parameter type ${number}`);
    return { field, type: kind.type, value: kind.codec.read(reader) };
  },
};

export const typedParameters: XdrType<readonly TypedParameter[]> = list(parameter);

/** By name, with numbers as numbers: counters of a machine stay far below where they become inexact. */
export function readParameters(parameters: readonly TypedParameter[]): ReadonlyMap<string, number | boolean | string> {
  return new Map(
    parameters.map(({ field, value }) => [field, typeof value === "bigint" ? Number(value) : value] as const),
  );
}
