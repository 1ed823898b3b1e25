import type { Readable, Writable } from "node:stream";

/** What a command may use of the world; tests give their own. */
export interface CommandContext {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder with the bundles (dist/). */
  readonly bundleDir: string;
  readonly version: string;
}

/** A command as `polyvirt help` lists it. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

export interface Command {
  /** Shown by `polyvirt help NAME`: the usage line first, then what the options mean. */
  readonly usage: string;
  /** Words that shell completion offers after the command. */
  readonly completions?: readonly string[];
  run(args: readonly string[], context: CommandContext): Promise<number>;
}
