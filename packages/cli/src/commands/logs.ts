import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { parseArguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { openDataDir } from "../data-dir.ts";
import { errors } from "../errors.ts";

export const logs: Command = {
  usage: [
    "usage: polyvirt logs [--follow] [--data-dir DIR]",
    "",
    "The logs of the roles are their pods' logs: polyvirt kubectl logs -n kubevirt POD",
    "",
    "  --follow, -f     go on as the log grows",
    "  --data-dir DIR   the cluster's folder",
  ].join("\n"),
  completions: ["--follow", "--data-dir"],
  async run(args, context) {
    const { values } = parseArguments(args, {
      follow: { type: "boolean", short: "f" },
      "data-dir": { type: "string" },
    });
    const dataDir = openDataDir(values["data-dir"], context.env);
    if (!existsSync(dataDir.clusterLog)) {
      throw errors.CliClusterNotRunning(`find a log in ${dataDir.path}; run "polyvirt up" first`);
    }
    const tail = values.follow ? ["-n", "200", "-F"] : ["-n", "+1"];
    return new Promise((resolve, reject) => {
      const child = spawn("tail", [...tail, dataDir.clusterLog], { stdio: "inherit" });
      child.on("error", (cause) => reject(errors.CliProgramMissing("start tail", { cause })));
      child.on("close", (code) => resolve(code ?? 1));
    });
  },
};
