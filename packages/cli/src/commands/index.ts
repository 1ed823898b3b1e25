import type { Command, CommandEntry } from "../command.ts";

/** Each command is loaded when it is used: most of them bring a good part of the project along. */
const commands: readonly CommandEntry[] = [
  {
    name: "up",
    summary: "Start the cluster; with --demo also a guest that says hello",
    load: async () => (await import("./up.ts")).up,
  },
  {
    name: "down",
    summary: "Stop the cluster, its pods and its guests; keep its data",
    load: async () => (await import("./down.ts")).down,
  },
  {
    name: "status",
    summary: "Tell whether the cluster runs, and what runs in it",
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "console",
    summary: "Attach to the serial console of a guest",
    load: async () => (await import("./console.ts")).consoleCommand,
  },
  {
    name: "guest",
    summary: "Ask a running guest about itself, or freeze, pause, reset or restart it",
    load: async () => (await import("./guest.ts")).guest,
  },
  {
    name: "kubectl",
    summary: "Run kubectl against the cluster",
    load: async () => (await import("./kubectl.ts")).kubectl,
  },
  {
    name: "kubeconfig",
    summary: "Print the path of the cluster's kubeconfig, or its text",
    load: async () => (await import("./kubeconfig.ts")).kubeconfig,
  },
  {
    name: "logs",
    summary: "Show the log of the cluster process",
    load: async () => (await import("./logs.ts")).logs,
  },
  {
    name: "image",
    summary: "Manage what image references mean here; build the demo guest",
    load: async () => (await import("./image.ts")).image,
  },
  {
    name: "manifest",
    summary: "Print what installs Polyvirt on a cluster",
    load: async () => (await import("./manifest.ts")).manifest,
  },
  {
    name: "convert",
    summary: "Show the machine that a VMI becomes, without a cluster",
    load: async () => (await import("./convert.ts")).convert,
  },
  {
    name: "capabilities",
    summary: "Show what each hypervisor cannot do, or not without a feature gate",
    load: async () => (await import("./capabilities.ts")).capabilities,
  },
  {
    name: "cel",
    summary: "Evaluate, check or translate a CEL expression",
    load: async () => (await import("./cel.ts")).celCommand,
  },
  {
    name: "reset",
    summary: "Stop the cluster and delete everything it knows",
    load: async () => (await import("./reset.ts")).reset,
  },
  {
    name: "completion",
    summary: "Print shell completion: source <(polyvirt completion bash)",
    load: async () => (await import("./completion.ts")).completionFor(commands),
  },
];

export async function findCommand(name: string): Promise<Command | undefined> {
  return commands.find((command) => command.name === name)?.load();
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
