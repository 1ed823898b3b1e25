import { systemClock } from "@polyvirt/core";
import { parseArguments, parseCount } from "../arguments.ts";
import { stopCluster } from "../cluster-process.ts";
import type { Command } from "../command.ts";
import { openDataDir } from "../data-dir.ts";
import { createProgress } from "../progress.ts";

export const down: Command = {
  usage: [
    "usage: polyvirt down [--timeout SECONDS] [--data-dir DIR]",
    "",
    "Guests are asked to shut down and get their grace period. `polyvirt up` starts the cluster again.",
    "",
    "  --timeout SECONDS  how long to wait before the cluster process is killed (120)",
    "  --data-dir DIR     the cluster's folder",
  ].join("\n"),
  completions: ["--timeout", "--data-dir"],
  async run(args, context) {
    const { values } = parseArguments(args, {
      timeout: { type: "string", default: "120" },
      "data-dir": { type: "string" },
    });
    const seconds = parseCount("timeout", values.timeout, { min: 1, max: 86_400 });
    const dataDir = openDataDir(values["data-dir"], context.env);
    const progress = createProgress(context.stderr);
    const stopped = await progress.step("stop pods and cluster", () =>
      stopCluster(dataDir, systemClock, seconds * 1000),
    );
    if (!stopped) context.stderr.write(`There was no cluster running in ${dataDir.path}.\n`);
    return 0;
  },
};
