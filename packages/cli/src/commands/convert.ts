import { randomUUID } from "node:crypto";
import type { VirtualMachineInstance } from "@polyvirt/api";
import { describeError, diffJson, isJsonObject } from "@polyvirt/core";
import { recordProvenance, type ProvenanceRecorder } from "@polyvirt/domain";
import {
  findUnserved,
  parseArchitecture,
  planningContext,
  type ClusterConfig,
  type Hypervisor,
  type MemoryTerm,
} from "@polyvirt/hypervisor";
import { parseArguments } from "../arguments.ts";
import type { Command, CommandContext } from "../command.ts";
import { errors } from "../errors.ts";
import { knownHypervisors } from "../hypervisor-modules.ts";
import { readConfig, readInstances } from "./convert-input.ts";
import { stackNames, stackOutputs, type MachineWriter } from "./convert-stack.ts";

export const convert: Command = {
  usage: [
    "usage: polyvirt convert FILE [--hypervisor NAME] [--arch ARCH] [--stack NAME] [--output FORM] [--config FILE] [--explain]",
    "",
    "  FILE               a VirtualMachineInstance or VirtualMachine as YAML or JSON; - is standard input",
    "  --hypervisor NAME  instead of the one that the configuration selects",
    "  --hypervisor-module MODULE   also know the hypervisor of this ES module (path or package; may be repeated)",
    "  --arch ARCH        architecture of guests that name none: amd64, arm64 or s390x",
    "  --stack NAME       also check that this stack can run it: libvirt (its schema) or qemu (its command line)",
    "  --output FORM      xml (default): libvirt's domain XML; args: QEMU's arguments as stack qemu writes them",
    "  --config FILE      a KubeVirt object whose configuration counts",
    "  --explain          also say which step set which field, and what the launcher pod reserves beside guest memory",
    "",
    "What makes the VMI invalid goes to standard error, and the exit code is then 1.",
  ].join("\n"),
  completions: ["--hypervisor", "--hypervisor-module", "--arch", "--stack", "--output", "--config", "--explain"],
  async run(args, context) {
    const { values, positionals } = parseArguments(args, {
      hypervisor: { type: "string" },
      "hypervisor-module": { type: "string", multiple: true, default: [] },
      arch: { type: "string" },
      stack: { type: "string" },
      output: { type: "string", default: "xml" },
      config: { type: "string" },
      explain: { type: "boolean", default: false },
    });
    const [file] = positionals;
    if (file === undefined) throw errors.CliUsage("name the file with the VMI");
    const write = chooseWriter(values.stack ?? (values.output === "args" ? "qemu" : "any"), values.output);
    const config = await readConfig(values.config, values.arch);
    const registry = await knownHypervisors(values["hypervisor-module"]);
    const hypervisor =
      values.hypervisor === undefined ? registry.select(config.hypervisor) : registry.get(values.hypervisor);
    let valid = true;
    for (const vmi of await readInstances(file, context)) {
      valid = convertOne(vmi, { hypervisor, config, write, explain: values.explain, context }) && valid;
    }
    return valid ? 0 : 1;
  },
};

function chooseWriter(stack: string, output: string): MachineWriter {
  const outputs = stackOutputs(stack);
  if (outputs === undefined) throw errors.CliUsage(`--stack must be one of ${stackNames.join(", ")}`);
  const write = outputs[output];
  if (write === undefined)
    throw errors.CliUsage(`--output with stack ${stack} must be one of ${Object.keys(outputs).join(", ")}`);
  return write;
}

interface Conversion {
  readonly hypervisor: Hypervisor;
  readonly config: ClusterConfig;
  readonly write: MachineWriter;
  readonly explain: boolean;
  readonly context: CommandContext;
}

/** Defaults, validation, machine; says what it did. Whether the VMI is valid. */
function convertOne(vmi: VirtualMachineInstance, conversion: Conversion): boolean {
  const { hypervisor, config, write, explain, context } = conversion;
  const { complete, defaults } = applyDefaults(vmi, conversion);
  const complain = (field: string, message: string): void => {
    context.stderr.write(`${vmi.metadata.name ?? "VMI"}: ${field}: ${message}\n`);
  };
  const causes = hypervisor.validator.validateVirtualMachineInstanceSpec("spec", complete.spec, config);
  const unserved = findUnserved("spec", complete.spec);
  for (const { field, message } of [...causes, ...unserved]) complain(field ?? "spec", message ?? "");
  // What this version only cannot run yet is shown all the same: the machine itself is right.
  if (causes.length > 0) return false;
  let recorder: ProvenanceRecorder | undefined;
  const domain = hypervisor.converter.convert(complete, planningContext(complete, { config }), (step, state) => {
    if (!explain) return;
    recorder ??= recordProvenance({}, "converter/empty");
    recorder.attribute(state, `converter/${step.name}`);
  });
  try {
    context.stdout.write(write(domain));
  } catch (error) {
    complain("the stack refuses the machine", describeError(error));
    return false;
  }
  if (explain) context.stdout.write(explanation(defaults, recorder, domain, overheadOf(complete, conversion)));
  return unserved.length === 0;
}

function applyDefaults(vmi: VirtualMachineInstance, { hypervisor, config, explain }: Conversion) {
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
  return { complete, defaults };
}

function overheadOf(vmi: VirtualMachineInstance, { hypervisor, config }: Conversion): readonly MemoryTerm[] {
  return hypervisor.resources.getMemoryOverhead(vmi, {
    architecture: parseArchitecture(vmi.spec.architecture ?? "") ?? config.defaultArchitecture,
    networkBindings: config.networkBindings,
    ...(config.additionalGuestMemoryOverheadRatio === undefined
      ? {}
      : { ratio: config.additionalGuestMemoryOverheadRatio }),
  }).terms;
}

function explanation(
  defaults: readonly string[],
  recorder: ProvenanceRecorder | undefined,
  domain: object,
  overhead: readonly MemoryTerm[],
): string {
  const fields = Object.keys(domain).flatMap((key) => {
    const value: unknown = Reflect.get(domain, key);
    const below = key === "devices" || key === "os" ? Object.keys(isJsonObject(value) ? value : {}) : [];
    return below.length === 0 ? [`/${key}`] : below.map((name) => `/${key}/${name}`);
  });
  const setters = fields.map((path) => `${path}    (${recorder?.whoSet(path) ?? "unknown"})`);
  const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} Mi`;
  return [
    "",
    "# fields of the VMI that defaults set",
    ...defaults,
    "",
    "# parts of the machine and who set them",
    ...setters,
    "",
    "# what the launcher pod reserves beside guest memory",
    ...overhead.map(({ name, bytes }) => `${name}    ${mebibytes(bytes)}`),
    "",
  ].join("\n");
}
