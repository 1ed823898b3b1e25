/**
 * Field numbers and types of the built-in kinds in Kubernetes' protobuf form, read from the `generated.proto` files of the
 * k8s.io modules, and from their Go types what an empty value means.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folder in a module ↔ package of its messages. */
const packages: readonly { readonly folder: string; readonly name: string }[] = [
  ...[
    "admissionregistration/v1",
    "apps/v1",
    "authentication/v1",
    "authorization/v1",
    "autoscaling/v1",
    "coordination/v1",
    "core/v1",
    "discovery/v1",
    "events/v1",
    "policy/v1",
    "rbac/v1",
    "scheduling/v1",
    "storage/v1",
  ].map((path) => ({ folder: `api/${path}`, name: `io.k8s.api.${path.replace("/", ".")}` })),
  { folder: "apimachinery/pkg/apis/meta/v1", name: "io.k8s.apimachinery.pkg.apis.meta.v1" },
  { folder: "apimachinery/pkg/api/resource", name: "io.k8s.apimachinery.pkg.api.resource" },
  { folder: "apimachinery/pkg/util/intstr", name: "io.k8s.apimachinery.pkg.util.intstr" },
  { folder: "apimachinery/pkg/runtime", name: "io.k8s.apimachinery.pkg.runtime" },
  {
    folder: "apiextensions-apiserver/pkg/apis/apiextensions/v1",
    name: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
  },
  {
    folder: "kube-aggregator/pkg/apis/apiregistration/v1",
    name: "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
  },
];

type Field = readonly [number: number, name: string, type: string, shape: "" | "r" | "m", go: string];

const scalars = new Set(["string", "bool", "int32", "int64", "uint32", "uint64", "bytes", "double"]);

function messagesOf(folder: string, packageName: string): Map<string, Field[]> {
  const proto = readFileSync(join(folder, "generated.proto"), "utf8");
  const facts = goFacts(folder);
  const messages = new Map<string, Field[]>();
  for (const [, message = "", body = ""] of proto.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)) {
    const fields: Field[] = [];
    const pattern = /^ {2}(?:(optional|repeated|required) ([\w.]+)|map<string, ([\w.]+)>) (\w+) = (\d+);/gm;
    for (const [, label = "", single, mapValue, name = "", number = "0"] of body.matchAll(pattern)) {
      const type = qualify(single ?? mapValue ?? "", packageName);
      const shape = mapValue !== undefined ? "m" : label === "repeated" ? "r" : "";
      fields.push([Number(number), name, type, shape, facts.get(`${message}.${name}`) ?? ""]);
    }
    messages.set(`${packageName}.${message}`, fields);
  }
  return messages;
}

function qualify(type: string, packageName: string): string {
  if (scalars.has(type)) return type;
  if (!type.startsWith(".")) return `${packageName}.${type}`;
  return type
    .replace(/^\.k8s\.io\./, "io.k8s.")
    .replace("apiextensions_apiserver", "apiextensions-apiserver")
    .replace("kube_aggregator", "kube-aggregator");
}

/** For `Struct.field`: `p` when it is a pointer, `o` when its empty value is left out of JSON. */
function goFacts(folder: string): Map<string, string> {
  const facts = new Map<string, string>();
  for (const file of readdirSync(folder)) {
    if (!file.endsWith(".go") || file.includes("generated") || file.endsWith("_test.go")) continue;
    const source = readFileSync(join(folder, file), "utf8");
    for (const [, struct = "", body = ""] of source.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) {
      for (const [, , type = "", tag = ""] of body.matchAll(/^\t(\w+)\s+(\S+)\s+`(.*)`/gm)) {
        const [json = "", ...options] = (/json:"([^"]*)"/.exec(tag)?.[1] ?? "").split(",");
        const name = /protobuf:"[^"]*name=(\w+)/.exec(tag)?.[1] ?? json;
        // `omitempty` never leaves out a struct, `omitzero` does.
        const omitted = options.includes("omitzero") ? "oz" : options.includes("omitempty") ? "o" : "";
        facts.set(`${struct}.${name}`, `${type.startsWith("*") ? "p" : ""}${omitted}`);
      }
    }
  }
  return facts;
}

/** The content of `gen/protobuf-fields.json` for the kinds in `schemas`. */
export function protobufFields(modules: string, version: string, schemas: string): string {
  const all = new Map<string, Field[]>();
  for (const { folder, name } of packages) {
    const [module = "", ...rest] = folder.split("/");
    for (const entry of messagesOf(join(modules, `${module}@${version}`, ...rest), name)) all.set(...entry);
  }
  const queue = Object.keys(JSON.parse(schemas) as object);
  const result = new Map<string, Field[]>();
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const fields = all.get(name);
    if (result.has(name) || fields === undefined) continue;
    result.set(name, fields);
    for (const [, , type] of fields) if (!scalars.has(type)) queue.push(type);
  }
  const lines = [...result.keys()].sort().map((name) => {
    const texts = (result.get(name) ?? []).map((field) => field.join(" ").trimEnd());
    return `${JSON.stringify(name)}:${JSON.stringify(texts)}`;
  });
  return `{\n${lines.join(",\n")}\n}\n`;
}
