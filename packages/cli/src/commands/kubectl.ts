import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Command } from "../command.ts";
import { openDataDir } from "../data-dir.ts";
import { errors } from "../errors.ts";

export const kubectl: Command = {
  usage: "usage: polyvirt kubectl ARGUMENTS…\n\nRuns the machine's kubectl with the cluster's kubeconfig.",
  async run(args, context) {
    const dataDir = openDataDir(undefined, context.env);
    if (!existsSync(dataDir.kubeconfig)) {
      throw errors.CliClusterNotRunning(`find a kubeconfig in ${dataDir.path}; run "polyvirt up" first`);
    }
    const env = { ...context.env, KUBECONFIG: dataDir.kubeconfig };
    return new Promise((resolve, reject) => {
      const child = spawn("kubectl", args, { env, stdio: "inherit" });
      child.on("error", (cause) => reject(errors.CliProgramMissing("start kubectl", { cause })));
      child.on("close", (code) => resolve(code ?? 1));
    });
  },
};
