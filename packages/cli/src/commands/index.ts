import type { Command } from "../command.ts";
import { capabilities } from "./capabilities.ts";
import { celCommand } from "./cel.ts";
import { completionFor } from "./completion.ts";
import { consoleCommand } from "./console.ts";
import { convert } from "./convert.ts";
import { down } from "./down.ts";
import { image } from "./image.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { kubectl } from "./kubectl.ts";
import { logs } from "./logs.ts";
import { manifest } from "./manifest.ts";
import { reset } from "./reset.ts";
import { status } from "./status.ts";
import { up } from "./up.ts";

const commands: readonly Command[] = [
  up,
  down,
  status,
  consoleCommand,
  kubectl,
  kubeconfig,
  logs,
  image,
  manifest,
  convert,
  capabilities,
  celCommand,
  reset,
  completionFor(() => commands),
];

export function findCommand(name: string): Command | undefined {
  return commands.find((command) => command.name === name);
}

export function helpText(): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const lines = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return [
    "Polyvirt: virtual machines as Kubernetes objects, on any hypervisor.",
    "",
    "usage: polyvirt COMMAND [OPTIONS]",
    "",
    ...lines,
    `  ${"test".padEnd(width)}  Run all checks and tests of this source tree (./polyvirt test)`,
    `  ${"help".padEnd(width)}  Explain a command: polyvirt help COMMAND`,
    "",
  ].join("\n");
}
