import { architectures } from "../src/architecture.ts";
import { registry } from "../src/builtin.ts";
import type { CapabilitySupport } from "../src/capabilities/capability.ts";

interface Column {
  readonly platform: string;
  /** Whether the hypervisor itself exists on the architecture; other guests are emulated. */
  readonly native: boolean;
  readonly support: ReadonlyMap<string, CapabilitySupport>;
}

function columns(): Column[] {
  return registry.names().flatMap((name) => {
    const { capabilities, node } = registry.get(name);
    return architectures.map((architecture) => ({
      platform: `${name}/${architecture}`,
      native: node.architectures.includes(architecture),
      support: new Map(capabilities.support(architecture).map((entry) => [entry.key, entry])),
    }));
  });
}

/** What every hypervisor can do on every architecture, and in which words it refuses the rest. */
export function renderCapabilityPage(): string {
  const all = columns();
  const features = [...(all[0]?.support.values() ?? [])];
  const titles = all.map(({ platform, native }) => (native ? platform : `${platform} (emulated)`));
  const rows = features.map(({ key, title, field }) => {
    const cells = all.map(({ support }) => cellOf(support.get(key)));
    return `| ${title} | \`${key}\` | \`spec.${field}\` | ${cells.join(" | ")} |`;
  });
  return [
    "# Capabilities",
    "",
    "What a VMI can ask for, on which hypervisor and architecture. Made from the capability registry",
    "(`packages/hypervisor/src/capabilities`) by `npm run generate`; `polyvirt capabilities` prints the same, for one platform or",
    "as JSON. *gate* means: with this feature gate of the KubeVirt configuration. Hypervisors do not exist on every architecture;",
    "guests of the others are emulated where the cluster allows it.",
    "",
    `| feature | key | field | ${titles.join(" | ")} |`,
    `|---|---|---|${titles.map(() => "---").join("|")}|`,
    ...rows,
    "",
    "## In which words it is refused",
    "",
    "| key | platforms | message |",
    "|---|---|---|",
    ...features.flatMap(({ key }) => refusals(key, all)),
    "",
  ].join("\n");
}

const words = { supported: "yes", experimental: "experimental", deprecated: "deprecated", unsupported: "no" } as const;

function cellOf(entry: CapabilitySupport | undefined): string {
  return entry?.gate === undefined ? words[entry?.level ?? "supported"] : `gate \`${entry.gate}\``;
}

/** One row for each message, with all platforms that use it. */
function refusals(key: string, all: readonly Column[]): string[] {
  const byMessage = new Map<string, string[]>();
  for (const { platform, support } of all) {
    const message = support.get(key)?.message;
    if (message !== undefined) byMessage.set(message, [...(byMessage.get(message) ?? []), platform]);
  }
  return [...byMessage].map(([message, on]) => {
    const where = on.length === all.length ? "all" : on.join(", ");
    return `| \`${key}\` | ${where} | ${message.replaceAll("|", "\\|")} |`;
  });
}
