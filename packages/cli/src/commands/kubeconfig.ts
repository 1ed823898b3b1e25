import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseArguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { openDataDir } from "../data-dir.ts";
import { errors } from "../errors.ts";

export const kubeconfig: Command = {
  usage: [
    "usage: polyvirt kubeconfig [--raw] [--data-dir DIR]",
    "",
    '  --raw            print the file itself; without it the path, for: export KUBECONFIG="$(polyvirt kubeconfig)"',
    "  --data-dir DIR   the cluster's folder",
  ].join("\n"),
  completions: ["--raw", "--data-dir"],
  async run(args, context) {
    const { values } = parseArguments(args, { raw: { type: "boolean" }, "data-dir": { type: "string" } });
    const dataDir = openDataDir(values["data-dir"], context.env);
    if (!existsSync(dataDir.kubeconfig)) {
      throw errors.CliClusterNotRunning(`find a kubeconfig in ${dataDir.path}; run "polyvirt up" first`);
    }
    context.stdout.write(values.raw ? await readFile(dataDir.kubeconfig, "utf8") : `${dataDir.kubeconfig}\n`);
    return 0;
  },
};
