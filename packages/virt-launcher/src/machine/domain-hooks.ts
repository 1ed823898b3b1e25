import type { VirtualMachineInstance } from "@polyvirt/api";
import type { Domain } from "@polyvirt/domain";
import { errors } from "../errors.ts";

/** Where plug-ins change the machine between conversion and start. */
export interface DomainHooks {
  apply(domain: Domain, request: HookRequest): Promise<Domain>;
}

export interface HookRequest {
  readonly vmi: VirtualMachineInstance;
  /** All Plugin objects of the cluster, as JSON. */
  readonly pluginsJson: Uint8Array;
  readonly invocation: "Boot" | "MigrationTarget";
}

/** For a launcher without a plug-in engine: a plug-in that wants to change machines is refused, never skipped. */
export const refuseHooks: DomainHooks = {
  async apply(domain, { pluginsJson }) {
    const names = hookingPlugins(pluginsJson);
    if (names.length > 0) {
      throw errors.LauncherHookUnsupported(
        `define ${domain.name ?? "the machine"}: plug-in ${names.join(", ")} has domain hooks`,
        {
          fields: { plugins: names },
        },
      );
    }
    return domain;
  },
};

interface PluginShape {
  readonly metadata?: { readonly name?: string };
  readonly spec?: { readonly domainHooks?: readonly unknown[] };
}

function hookingPlugins(json: Uint8Array): string[] {
  if (json.length === 0) return [];
  let plugins: unknown;
  try {
    plugins = JSON.parse(Buffer.from(json).toString("utf8"));
  } catch (cause) {
    throw errors.LauncherRequestMalformed("read the plug-ins of a request: they are not JSON", { cause });
  }
  if (!Array.isArray(plugins)) return [];
  // Written by the node agent from objects that the API server has checked.
  return (plugins as PluginShape[])
    .filter((plugin) => (plugin.spec?.domainHooks ?? []).length > 0)
    .map((plugin) => plugin.metadata?.name ?? "?");
}
