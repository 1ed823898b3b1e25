import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { KubeVirt, VirtualMachine, VirtualMachineInstance } from "@polyvirt/api";
import { diffJson, isJsonObject } from "@polyvirt/core";
import { recordProvenance, writeDomain, type ProvenanceRecorder } from "@polyvirt/domain";
import {
  findUnserved,
  parseArchitecture,
  planningContext,
  registry,
  resolveClusterConfig,
  type Architecture,
  type ClusterConfig,
} from "@polyvirt/hypervisor";
import { parseAllDocuments } from "yaml";
import { parseArguments } from "../arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { errors } from "../errors.ts";

export const convert: Command = {
  usage: [
    "usage: polyvirt convert FILE [--hypervisor NAME] [--arch ARCH] [--config FILE] [--explain]",
    "",
    "  FILE               a VirtualMachineInstance or VirtualMachine as YAML or JSON; - is standard input",
    "  --hypervisor NAME  instead of the one that the configuration selects",
    "  --arch ARCH        architecture of guests that name none: amd64, arm64 or s390x",
    "  --config FILE      a KubeVirt object whose configuration counts",
    "  --explain          also say which step set which field",
    "",
    "Prints libvirt's domain XML. What makes the VMI invalid goes to standard error, and the exit code is then 1.",
  ].join("\n"),
  completions: ["--hypervisor", "--arch", "--config", "--explain"],
  async run(args, context) {
    const { values, positionals } = parseArguments(args, {
      hypervisor: { type: "string" },
      arch: { type: "string" },
      config: { type: "string" },
      explain: { type: "boolean", default: false },
    });
    const [file] = positionals;
    if (file === undefined) throw errors.CliUsage("name the file with the VMI");
    const config = await readConfig(values.config, values.arch);
    const hypervisor =
      values.hypervisor === undefined ? registry.select(config.hypervisor) : registry.get(values.hypervisor);
    let valid = true;
    for (const vmi of await readInstances(file, context)) {
      valid = convertOne(vmi, { hypervisor, config, explain: values.explain, context }) && valid;
    }
    return valid ? 0 : 1;
  },
};

interface Conversion {
  readonly hypervisor: ReturnType<typeof registry.get>;
  readonly config: ClusterConfig;
  readonly explain: boolean;
  readonly context: CommandContext;
}

/** Defaults, validation, machine; says what it did. Whether the VMI is valid. */
function convertOne(vmi: VirtualMachineInstance, { hypervisor, config, explain, context }: Conversion): boolean {
  const defaults: string[] = [];
  let seen: VirtualMachineInstance = vmi;
  const complete = hypervisor.defaults.applyToInstance(vmi, { config, randomUuid: randomUUID }, (step, state) => {
    if (!explain) return;
    for (const operation of diffJson(seen, state)) {
      const value = "value" in operation ? JSON.stringify(operation.value) : "";
      defaults.push(`${operation.path} = ${value}    (default ${step.layer}/${step.name})`);
    }
    seen = structuredClone(state);
  });
  const causes = [
    ...hypervisor.validator.validateVirtualMachineInstanceSpec("spec", complete.spec, config),
    ...findUnserved("spec", complete.spec),
  ];
  for (const { field, message } of causes)
    context.stderr.write(`${vmi.metadata.name ?? "VMI"}: ${field}: ${message}\n`);
  if (hasRefusal(causes)) return false;
  let recorder: ProvenanceRecorder | undefined;
  const domain = hypervisor.converter.convert(complete, planningContext(complete, { config }), (step, state) => {
    if (!explain) return;
    recorder ??= recordProvenance({}, "converter/empty");
    recorder.attribute(state, `converter/${step.name}`);
  });
  context.stdout.write(writeDomain(domain));
  if (explain) context.stdout.write(explanation(defaults, recorder, domain));
  return causes.length === 0;
}

/** Only what this version cannot run yet may still be shown: the machine itself is right. */
function hasRefusal(causes: readonly { message?: string }[]): boolean {
  return causes.some(({ message }) => message?.endsWith("is not served by this version") !== true);
}

function explanation(defaults: readonly string[], recorder: ProvenanceRecorder | undefined, domain: object): string {
  const fields = Object.keys(domain).flatMap((key) => {
    const value: unknown = Reflect.get(domain, key);
    const below = key === "devices" || key === "os" ? Object.keys(isJsonObject(value) ? value : {}) : [];
    return below.length === 0 ? [`/${key}`] : below.map((name) => `/${key}/${name}`);
  });
  const setters = fields.map((path) => `${path}    (${recorder?.whoSet(path) ?? "unknown"})`);
  return [
    "",
    "# fields of the VMI that defaults set",
    ...defaults,
    "",
    "# parts of the machine and who set them",
    ...setters,
    "",
  ].join("\n");
}

async function readConfig(file: string | undefined, arch: string | undefined): Promise<ClusterConfig> {
  const kubevirt = file === undefined ? undefined : await readKubeVirt(file);
  return resolveClusterConfig(kubevirt?.spec.configuration, { hostArchitecture: readArchitecture(arch) });
}

function readArchitecture(name: string | undefined): Architecture {
  const architecture = parseArchitecture(name ?? process.arch);
  if (architecture === undefined)
    throw errors.CliUsage(`--arch ${name ?? process.arch} is not one of amd64, arm64, s390x`);
  return architecture;
}

async function readKubeVirt(file: string): Promise<KubeVirt> {
  const found = readObjects(await readFile(file, "utf8")).find(({ kind }) => kind === "KubeVirt");
  if (found === undefined) throw errors.CliUsage(`${file} has no KubeVirt object`);
  return found as unknown as KubeVirt; // Recognised by its kind; wrong fields show as what they lead to.
}

async function readInstances(file: string, context: CommandContext): Promise<VirtualMachineInstance[]> {
  const text = file === "-" ? await readStream(context.stdin) : await readFile(file, "utf8");
  const instances = readObjects(text).flatMap((object) => {
    // Recognised by its kind; wrong fields are what validation is for.
    if (object["kind"] === "VirtualMachineInstance") return [object as unknown as VirtualMachineInstance];
    if (object["kind"] !== "VirtualMachine") return [];
    const { metadata, spec } = object as unknown as VirtualMachine;
    return spec.template.spec === undefined ? [] : [{ metadata, spec: spec.template.spec }];
  });
  if (instances.length === 0) throw errors.CliUsage(`${file} has no VirtualMachineInstance and no VirtualMachine`);
  return instances.map((vmi) => ({ ...vmi, metadata: { namespace: "default", ...vmi.metadata } }));
}

function readObjects(text: string): Record<string, unknown>[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw errors.CliUsage("read the file as YAML", { cause: problem });
    const object: unknown = document.toJS();
    return isJsonObject(object) ? [object] : [];
  });
}

async function readStream(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of stream) chunks.push(chunk.toString());
  return chunks.join("");
}
