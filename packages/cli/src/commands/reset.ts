import { systemClock } from "@polyvirt/core";
import { parseArguments } from "../arguments.ts";
import { stopCluster } from "../cluster-process.ts";
import type { Command } from "../command.ts";
import { openDataDir, readClusterState } from "../data-dir.ts";
import { errors } from "../errors.ts";
import { removeFolder } from "../remove-folder.ts";

export const reset: Command = {
  usage: [
    "usage: polyvirt reset --yes [--data-dir DIR]",
    "",
    "  --yes            really: all objects, disks and images of the cluster are gone afterwards",
    "  --data-dir DIR   the cluster's folder",
  ].join("\n"),
  completions: ["--yes", "--data-dir"],
  async run(args, context) {
    const { values } = parseArguments(args, { yes: { type: "boolean" }, "data-dir": { type: "string" } });
    const dataDir = openDataDir(values["data-dir"], context.env);
    if (!values.yes) throw errors.CliUsage(`delete ${dataDir.path}: say --yes if you mean it`);
    const state = await readClusterState(dataDir);
    if (state === undefined) {
      throw errors.CliClusterNotRunning(
        `find a cluster in ${dataDir.path}: the folder holds none, nothing was deleted`,
      );
    }
    await stopCluster(dataDir, systemClock, { limitMs: 120_000 });
    await removeFolder(dataDir.path);
    context.stderr.write(`Deleted ${dataDir.path}.\n`);
    return 0;
  },
};
