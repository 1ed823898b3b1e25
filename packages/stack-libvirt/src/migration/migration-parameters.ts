import type { MigrationOptions } from "@polyvirt/stack";
import type { TypedParameter } from "../rpc/typed-parameter.ts";

/** Flags of a migration, by what they do. */
const flags = {
  live: 1,
  /** Whether both ends see the same storage was decided before; libvirt can only guess from the kind of file system. */
  trustStorage: 512,
  autoConverge: 8192,
  postCopy: 32768,
} as const;

const mebibyte = 1024 * 1024;

/** The target is not told about what only the source does. */
export function migrationFlags(options: MigrationOptions): { readonly source: number; readonly target: number } {
  const target = flags.live | flags.trustStorage | (options.allowPostCopy === true ? flags.postCopy : 0);
  return { target, source: target | (options.allowAutoConverge === true ? flags.autoConverge : 0) };
}

/** What each step of a migration is told. */
export interface StepParameters {
  begin(definition: string): TypedParameter[];
  /** QEMU at the target is to listen at `incoming`. */
  prepare(definition: string, incoming: string): TypedParameter[];
  /** The machine is to be sent to `socketPath`. */
  perform(definition: string, socketPath: string): TypedParameter[];
  finish(): TypedParameter[];
}

export function parametersFor(name: string, options: MigrationOptions): StepParameters {
  const destination = (definition: string, uri?: string): TypedParameter[] => [
    text("destination_name", name),
    text("destination_xml", definition),
    ...(uri === undefined ? [] : [text("migrate_uri", uri)]),
  ];
  return {
    begin: (definition) => destination(definition),
    prepare: (definition, incoming) => destination(definition, `unix://${incoming}`),
    perform: (definition, socketPath) => [...destination(definition, `unix://${socketPath}`), ...speed(options)],
    finish: () => [text("destination_name", name)],
  };
}

/** libvirt counts in mebibytes a second; less than one is not possible. */
function speed({ bandwidthBytesPerSecond = 0, allowPostCopy }: MigrationOptions): TypedParameter[] {
  if (bandwidthBytesPerSecond === 0) return [];
  const value = BigInt(Math.ceil(bandwidthBytesPerSecond / mebibyte));
  const names = ["bandwidth", ...(allowPostCopy === true ? ["bandwidth.postcopy"] : [])];
  return names.map((field) => ({ field, type: "ullong", value }));
}

function text(field: string, value: string): TypedParameter {
  return { field, type: "string", value };
}
