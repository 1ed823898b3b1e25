import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeError, type Logger } from "@polyvirt/core";
import { parseArchitecture, type Architecture } from "@polyvirt/hypervisor";
import { capabilitiesV1, fromJson } from "@polyvirt/protocol";

export type Capabilities = capabilitiesV1.Capabilities;

/** What the launcher's image said about this node, by the architecture of the guests it is about. */
export type ExportedCapabilities = ReadonlyMap<Architecture, Capabilities>;

const FILE = /^capabilities-([a-z0-9]+)\.json$/;

/** Reads what the init container of virt-handler wrote. A file that cannot be read counts as one that is not there. */
export function readExportedCapabilities(directory: string, logger: Logger): ExportedCapabilities {
  const found = new Map<Architecture, Capabilities>();
  for (const file of listFiles(directory)) {
    const architecture = parseArchitecture(FILE.exec(file)?.[1] ?? "");
    if (architecture === undefined) continue;
    try {
      const json = JSON.parse(readFileSync(join(directory, file), "utf8")) as Parameters<typeof fromJson>[1];
      // A newer launcher may say more than we know of.
      found.set(architecture, fromJson(capabilitiesV1.CapabilitiesSchema, json, { ignoreUnknownFields: true }));
    } catch (error) {
      logger.warn("the capabilities of a launcher cannot be read", { file, error: describeError(error) });
    }
  }
  return found;
}

function listFiles(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Nothing was exported here: the node runs guests without being labelled in detail.
    return [];
  }
}
