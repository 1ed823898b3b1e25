import { parseArguments } from "../arguments.ts";
import { openDataDir } from "../data-dir.ts";
import { runClusterHere } from "../run-cluster.ts";

const { values } = parseArguments(process.argv.slice(2), { "data-dir": { type: "string" } });
process.exit(await runClusterHere(openDataDir(values["data-dir"], process.env)));
