import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describeError, hasCode } from "@polyvirt/core";
import manifest from "../package.json" with { type: "json" };
import type { Command, CommandContext } from "./command.ts";
import { findCommand, helpText } from "./commands/index.ts";

/** The `polyvirt` command: finds the command by its name and turns its outcome into an exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const context: CommandContext = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    bundleDir: dirname(fileURLToPath(import.meta.url)),
    version: manifest.version,
  };
  const [name = "help", ...args] = argv;
  if (["help", "--help", "-h"].includes(name)) return printHelp(args[0], context);
  if (["version", "--version", "-v"].includes(name)) {
    context.stdout.write(`${manifest.version}\n`);
    return 0;
  }
  const command = await findCommand(name);
  if (command === undefined) {
    context.stderr.write(`polyvirt: there is no command "${name}"\n\n${helpText()}`);
    return 2;
  }
  if (args.includes("--help") && name !== "kubectl") return printHelp(name, context);
  return runCommandSafely(name, command, args, context);
}

async function runCommandSafely(
  name: string,
  command: Command,
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  try {
    return await command.run(args, context);
  } catch (error) {
    context.stderr.write(`polyvirt ${name}: ${describeError(error)}\n`);
    if (hasCode(error, "CliUsage")) context.stderr.write(`\n${command.usage}\n`);
    return hasCode(error, "CliUsage") ? 2 : 1;
  }
}

async function printHelp(name: string | undefined, context: CommandContext): Promise<number> {
  const command = name === undefined ? undefined : await findCommand(name);
  context.stdout.write(command === undefined ? helpText() : `${command.usage}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
