import type { Duplex, Readable } from "node:stream";
import { parseArguments } from "../arguments.ts";
import { connectWith } from "../cluster-client.ts";
import type { Command, CommandContext } from "../command.ts";
import { openConsole } from "../console-session.ts";
import { openDataDir } from "../data-dir.ts";
import { errors } from "../errors.ts";

const leave = 0x1d; // Ctrl+]

export const consoleCommand: Command = {
  usage: [
    "usage: polyvirt console NAME [--namespace NAMESPACE] [--data-dir DIR]",
    "",
    "Ctrl+] leaves the console; the guest goes on. A new session ends the one before it.",
    "",
    "  --namespace, -n NAMESPACE   the guest's namespace (default)",
    "  --data-dir DIR              the cluster's folder; KUBECONFIG, when set, is used instead",
  ].join("\n"),
  completions: ["--namespace", "--data-dir"],
  async run(args, context) {
    const { values, positionals } = parseArguments(args, {
      namespace: { type: "string", short: "n", default: "default" },
      "data-dir": { type: "string" },
    });
    const [name, ...rest] = positionals;
    if (name === undefined || rest.length > 0) throw errors.CliUsage("name one VirtualMachineInstance");
    const dataDir = openDataDir(values["data-dir"], context.env);
    const path =
      values["data-dir"] === undefined ? (context.env["KUBECONFIG"] ?? dataDir.kubeconfig) : dataDir.kubeconfig;
    const client = await connectWith(path, context.env);
    const session = await openConsole(client, values.namespace, name);
    context.stderr.write(`Connected to ${name}. Press Enter for a prompt; Ctrl+] leaves.\r\n`);
    await attach(session, context);
    client.close();
    context.stderr.write("\r\nThe console is closed.\r\n");
    return 0;
  },
};

/** Joins terminal and console until either ends. */
async function attach(session: Duplex, context: CommandContext): Promise<void> {
  const input: Readable & { setRawMode?(on: boolean): void } = context.stdin;
  const raw = input.setRawMode !== undefined && "isTTY" in input && input.isTTY === true;
  if (raw) input.setRawMode?.(true);
  try {
    await new Promise<void>((resolve, reject) => {
      session.on("data", (chunk: Buffer) => context.stdout.write(chunk));
      session.on("end", resolve);
      session.on("error", reject);
      input.on("data", (chunk: Buffer) => {
        const end = raw ? chunk.indexOf(leave) : -1;
        if (end < 0) return void session.write(chunk);
        session.write(chunk.subarray(0, end));
        resolve();
      });
      input.on("end", resolve);
    });
  } finally {
    if (raw) input.setRawMode?.(false);
    session.destroy();
    input.pause();
  }
}
