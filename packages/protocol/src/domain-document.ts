import { errors } from "./errors.ts";

/** Life cycle of a machine, in the words that travel between launcher and node agent. */
export const domainStates = [
  "NoState",
  "Running",
  "Blocked",
  "Paused",
  "ShuttingDown",
  "Shutoff",
  "Crashed",
  "PMSuspended",
  "Unknown",
] as const;
export type DomainState = (typeof domainStates)[number];

/** Why a machine is in its state. The first line is for machines that ended, the second for paused ones. */
export const domainReasons = [
  ...(["Unknown", "User", "Shutdown", "Destroyed", "Migrated", "Crashed", "Panicked", "Saved", "Failed"] as const),
  ...(["Migration", "Save", "Dump", "IOError", "Watchdog", "FromSnapshot", "ShuttingDown", "Snapshot"] as const),
  ...(["StartingUp", "Postcopy", "PostcopyFailed", "NonExistent"] as const),
] as const;
export type DomainReason = (typeof domainReasons)[number];

/**
 * The JSON of `DomainEventRequest.domainJSON` and `DomainResponse.domain`. The capitals are KubeVirt's: its Go types have
 * no JSON names of their own.
 */
export interface DomainDocument {
  readonly kind: "Domain";
  readonly apiVersion: "kubevirt.io/v1";
  readonly ObjectMeta: DomainObjectMeta;
  readonly Spec: DomainDocumentSpec;
  readonly Status: DomainDocumentStatus;
  /** Addition: why the machine ended, in a sentence for people. */
  readonly message?: string;
  /** Addition: the definition that runs, in the domain model's own JSON. */
  readonly definition?: unknown;
}

interface DomainObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Set when the machine is gone and the launcher is about to leave. */
  readonly deletionTimestamp?: string;
}

interface DomainDocumentSpec {
  /** `namespace_name` of the VMI. */
  readonly Name: string;
  readonly Type?: string;
  readonly UUID?: string;
  readonly Metadata?: { readonly KubeVirt: { readonly UID: string } };
}

interface DomainDocumentStatus {
  readonly Status: DomainState;
  readonly Reason: DomainReason;
  readonly Interfaces?: readonly DomainInterfaceStatus[];
  readonly OSInfo?: Readonly<Record<string, string>>;
  readonly PanicCount?: number;
}

interface DomainInterfaceStatus {
  readonly Name?: string;
  readonly Mac?: string;
  readonly Ip?: string;
  readonly IPs?: readonly string[];
  readonly InterfaceName?: string;
}

const maxDocumentBytes = 4 * 1024 * 1024;

export function encodeDomainDocument(document: DomainDocument): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(document));
}

/** Reads a document that a pod sent: only what has the right type gets through, whatever else it holds is left out. */
export function decodeDomainDocument(json: Uint8Array | string): DomainDocument {
  if (json.length > maxDocumentBytes) throw malformed(`it has ${json.length} bytes, more than ${maxDocumentBytes}`);
  let value: unknown;
  try {
    value = JSON.parse(typeof json === "string" ? json : new TextDecoder().decode(json));
  } catch (cause) {
    throw malformed("it is not JSON", cause);
  }
  const root = asObject(value);
  const meta = asObject(root["ObjectMeta"]);
  const spec = asObject(root["Spec"]);
  const status = asObject(root["Status"]);
  const kubeVirt = asObject(asObject(spec["Metadata"])["KubeVirt"]);
  // KubeVirt's launchers put the VMI's UID only into the metadata of the definition.
  const uid = asText(meta["uid"]) ?? asText(kubeVirt["UID"]);
  const name = asText(meta["name"]);
  const namespace = asText(meta["namespace"]);
  if (name === undefined || namespace === undefined) throw malformed("it has no ObjectMeta.name and namespace");
  return {
    kind: "Domain",
    apiVersion: "kubevirt.io/v1",
    ObjectMeta: {
      name,
      namespace,
      uid: uid ?? "",
      ...optional("deletionTimestamp", asText(meta["deletionTimestamp"])),
    },
    Spec: {
      Name: asText(spec["Name"]) ?? `${namespace}_${name}`,
      ...optional("Type", asText(spec["Type"])),
      ...optional("UUID", asText(spec["UUID"])),
      ...(uid === undefined ? {} : { Metadata: { KubeVirt: { UID: uid } } }),
    },
    Status: {
      Status: domainStates.find((known) => known === status["Status"]) ?? "NoState",
      Reason: domainReasons.find((known) => known === status["Reason"]) ?? "Unknown",
      ...optional("Interfaces", asInterfaces(status["Interfaces"])),
      ...optional("OSInfo", asTexts(status["OSInfo"])),
      ...(typeof status["PanicCount"] === "number" ? { PanicCount: status["PanicCount"] } : {}),
    },
    ...optional("message", asText(root["message"])),
    ...(root["definition"] === undefined ? {} : { definition: root["definition"] }),
  };
}

function malformed(why: string, cause?: unknown): Error {
  return errors.ProtocolMalformed(`read the JSON of a domain: ${why}`, cause === undefined ? {} : { cause });
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // A plain object of JSON has string keys; arrays have none that are looked up here.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function asTexts(value: unknown): Record<string, string> | undefined {
  const texts = Object.entries(asObject(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}

function asInterfaces(value: unknown): DomainInterfaceStatus[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.slice(0, 256).map((item: unknown) => {
    const from = asObject(item);
    const addresses = Array.isArray(from["IPs"]) ? from["IPs"].filter((ip) => typeof ip === "string") : undefined;
    return {
      ...optional("Name", asText(from["Name"])),
      ...optional("Mac", asText(from["Mac"])),
      ...optional("Ip", asText(from["Ip"])),
      ...optional("IPs", addresses),
      ...optional("InterfaceName", asText(from["InterfaceName"])),
    };
  });
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  // The object has exactly the key that was given, or none.
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}
