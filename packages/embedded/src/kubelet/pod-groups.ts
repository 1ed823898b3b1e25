import { createHash } from "node:crypto";
import * as fs from "node:fs";
import type { Clock } from "@polyvirt/core";
import { openGroupTree, type GroupTree } from "@polyvirt/host";
import type { NodePaths } from "./node-paths.ts";

/** The control groups of a node's pods. Nodes of other clusters on this machine have the same names, but other folders. */
export function openPodGroups(paths: NodePaths, nodeName: string, clock: Clock): GroupTree {
  const mark = createHash("sha256").update(fs.realpathSync(paths.root)).digest("hex").slice(0, 8);
  return openGroupTree(paths.groups, `${nodeName}-${mark}`, clock);
}
