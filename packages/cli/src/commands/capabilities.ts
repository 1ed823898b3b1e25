import { architectures, parseArchitecture, type CapabilitySupport } from "@polyvirt/hypervisor";
import { parseArguments } from "../arguments.ts";
import type { Command } from "../command.ts";
import { errors } from "../errors.ts";
import { knownHypervisors } from "../hypervisor-modules.ts";

type Platform = { readonly platform: string; readonly support: readonly CapabilitySupport[] };

const outputs: Readonly<Record<string, (platforms: readonly Platform[]) => string>> = {
  keys: (platforms) =>
    platforms
      .flatMap(limited)
      .map(({ platform, key, level }) => `${platform} ${key} ${level}`)
      .join("\n"),
  detailed: (platforms) =>
    platforms
      .flatMap(limited)
      .map(({ platform, key, title, level, gate, message }) => {
        const condition = gate === undefined ? level : `${level}, with feature gate ${gate}`;
        return `${platform} ${key} (${title}): ${condition}\n    ${message ?? ""}`;
      })
      .join("\n"),
  json: (platforms) =>
    JSON.stringify(Object.fromEntries(platforms.map(({ platform, support }) => [platform, support])), null, 2),
};

export const capabilities: Command = {
  usage: [
    "usage: polyvirt capabilities [--hypervisor NAME] [--arch ARCH] [--output keys|detailed|json]",
    "",
    "  --hypervisor NAME   only this hypervisor",
    "  --hypervisor-module MODULE   also the hypervisor of this ES module (path or package; may be repeated)",
    "  --arch ARCH         only guests of this architecture: amd64, arm64 or s390x",
    "  --output FORM       keys (default), detailed (with what users are told), json (supported features too)",
  ].join("\n"),
  completions: ["--hypervisor", "--hypervisor-module", "--arch", "--output"],
  async run(args, context) {
    const { values } = parseArguments(args, {
      hypervisor: { type: "string" },
      "hypervisor-module": { type: "string", multiple: true, default: [] },
      arch: { type: "string" },
      output: { type: "string", default: "keys" },
    });
    const render = outputs[values.output];
    if (render === undefined) throw errors.CliUsage(`--output must be one of ${Object.keys(outputs).join(", ")}`);
    const only = values.arch === undefined ? undefined : parseArchitecture(values.arch);
    if (values.arch !== undefined && only === undefined) {
      throw errors.CliUsage(`--arch must be one of ${architectures.join(", ")}`);
    }
    const registry = await knownHypervisors(values["hypervisor-module"]);
    const names = values.hypervisor === undefined ? registry.names() : [registry.get(values.hypervisor).name];
    const platforms = names.flatMap((name) =>
      architectures
        .filter((architecture) => only === undefined || architecture === only)
        .map((architecture) => ({
          platform: `${name}/${architecture}`,
          support: registry.get(name).capabilities.support(architecture),
        })),
    );
    context.stdout.write(`${render(platforms)}\n`);
    return 0;
  },
};

function limited({ platform, support }: Platform) {
  return support.filter(({ level }) => level !== "supported").map((entry) => ({ platform, ...entry }));
}
