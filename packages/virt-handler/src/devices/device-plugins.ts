import { lstatSync } from "node:fs";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import { openTrustedDirectory, type OpenedPath } from "@polyvirt/host";
import { registrationMark, startDevicePlugin, type DevicePlugin } from "./device-plugin.ts";
import type { DeviceSource } from "./device-source.ts";

export interface DevicePluginsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The kubelet's folder of device plug-ins. */
  readonly directory: string;
  /** What the node should offer now. The same object for as long as the configuration does not change it. */
  readonly sources: () => readonly DeviceSource[];
}

/** How long a kubelet that was restarted, or a device that vanished, goes unnoticed. */
const LOOK_MS = 2_000;

interface Entry {
  readonly source: DeviceSource;
  readonly plugin: DevicePlugin;
  readonly mark: string | undefined;
}

/** Keeps a device plug-in registered for each source until the signal is aborted. */
export async function runDevicePlugins(deps: DevicePluginsDeps, signal: AbortSignal): Promise<void> {
  const plugins = new Map<string, Entry>();
  const problems = new Map<string, string>();
  while (!signal.aborted) {
    await look(deps, plugins, problems);
    await deps.clock.sleep(LOOK_MS, signal).catch(() => {});
  }
  await Promise.all([...plugins.values()].map(({ plugin }) => plugin.close()));
}

async function look(
  deps: DevicePluginsDeps,
  plugins: Map<string, Entry>,
  problems: Map<string, string>,
): Promise<void> {
  const { directory: path, logger } = deps;
  try {
    using directory = openTrustedDirectory(path);
    const sources = new Map(deps.sources().map((source) => [source.resourceName, source]));
    for (const name of plugins.keys()) if (!sources.has(name)) await drop(plugins, name);
    for (const source of sources.values()) {
      await attend(source, directory, plugins, logger).then(
        () => problems.delete(source.resourceName),
        (error: unknown) => complain(logger, problems, source.resourceName, error),
      );
    }
  } catch (error) {
    complain(logger, problems, path, error);
  }
}

async function attend(
  source: DeviceSource,
  directory: OpenedPath,
  plugins: Map<string, Entry>,
  logger: Logger,
): Promise<void> {
  const { resourceName } = source;
  const known = plugins.get(resourceName);
  if (known?.source === source && known.mark === registrationMark(statOf, directory, resourceName)) {
    known.plugin.refresh();
    return;
  }
  await drop(plugins, resourceName);
  const plugin = await startDevicePlugin(source, directory);
  plugins.set(resourceName, { source, plugin, mark: registrationMark(statOf, directory, resourceName) });
  logger.info("offers devices to the kubelet", { resource: resourceName });
}

async function drop(plugins: Map<string, Entry>, name: string): Promise<void> {
  const entry = plugins.get(name);
  plugins.delete(name);
  await entry?.plugin.close();
}

/** The same trouble is told once, not every two seconds. */
function complain(logger: Logger, problems: Map<string, string>, what: string, error: unknown): void {
  const message = describeError(error);
  if (problems.get(what) === message) return;
  problems.set(what, message);
  logger.warn("a device cannot be offered to the kubelet, which is tried again", { what, error: message });
}

function statOf(path: string): { ino: number; ctimeMs: number } | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
