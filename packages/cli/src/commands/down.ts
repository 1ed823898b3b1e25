import { existsSync } from "node:fs";
import { systemClock } from "@polyvirt/core";
import { parseArguments, parseCount } from "../arguments.ts";
import { connectWith } from "../cluster-client.ts";
import { runningPods, stopCluster } from "../cluster-process.ts";
import type { Command } from "../command.ts";
import { openDataDir } from "../data-dir.ts";
import { createProgress } from "../progress.ts";

export const down: Command = {
  usage: [
    "usage: polyvirt down [--timeout SECONDS] [--data-dir DIR]",
    "",
    "Guests are asked to shut down and get their grace period; Ctrl+C ends it. `polyvirt up` starts the cluster again.",
    "",
    "  --timeout SECONDS  how long pods get to end by themselves before they are killed (120)",
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
    const hurry = new AbortController();
    const interrupt = (): void => hurry.abort();
    process.once("SIGINT", interrupt);
    const client = existsSync(dataDir.kubeconfig) ? await connectWith(dataDir.kubeconfig, context.env) : undefined;
    const stopped = await progress.step("stop pods and cluster", (note) =>
      stopCluster(dataDir, systemClock, {
        limitMs: seconds * 1000,
        hurry: hurry.signal,
        note,
        ...(client === undefined ? {} : { stillRunning: () => runningPods(client) }),
      }),
    );
    client?.close();
    process.off("SIGINT", interrupt);
    if (stopped.abandoned > 0)
      context.stderr.write(
        `The cluster process was gone; ${stopped.abandoned} containers that it had left were stopped.\n`,
      );
    else if (!stopped.found) context.stderr.write(`There was no cluster running in ${dataDir.path}.\n`);
    return 0;
  },
};
