import { readFile } from "node:fs/promises";
import type { KubeVirt, VirtualMachine, VirtualMachineInstance } from "@polyvirt/api";
import { isJsonObject } from "@polyvirt/core";
import { parseArchitecture, resolveClusterConfig, type Architecture, type ClusterConfig } from "@polyvirt/hypervisor";
import { parseAllDocuments } from "yaml";
import type { CommandContext } from "../command.ts";
import { errors } from "../errors.ts";

/** The configuration of the KubeVirt object in a file, or of a cluster that says nothing. */
export async function readConfig(file: string | undefined, arch: string | undefined): Promise<ClusterConfig> {
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

/** The VMIs of a file, also those in the templates of VMs. */
export async function readInstances(file: string, context: CommandContext): Promise<VirtualMachineInstance[]> {
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
