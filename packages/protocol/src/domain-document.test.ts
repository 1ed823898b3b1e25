import { describe, expect, it } from "vitest";
import { decodeDomainDocument, encodeDomainDocument, type DomainDocument } from "./domain-document.ts";

const running: DomainDocument = {
  kind: "Domain",
  apiVersion: "kubevirt.io/v1",
  ObjectMeta: { name: "hello", namespace: "default", uid: "u-1" },
  Spec: { Name: "default_hello", Type: "qemu", Metadata: { KubeVirt: { UID: "u-1" } } },
  Status: { Status: "Running", Reason: "Unknown", Interfaces: [{ Name: "default", IPs: ["10.0.2.15"] }] },
  message: "started",
  definition: { name: "default_hello" },
};

describe("domain document", () => {
  it("comes back as it was sent", () => {
    expect(decodeDomainDocument(encodeDomainDocument(running))).toEqual(running);
  });

  it("reads what a launcher of KubeVirt sends", () => {
    const json = JSON.stringify({
      ObjectMeta: { name: "vm", namespace: "ns", creationTimestamp: null },
      Spec: { XMLName: {}, Type: "kvm", Name: "ns_vm", Metadata: { KubeVirt: { UID: "u-2" } }, Devices: {} },
      Status: { Status: "Shutoff", Reason: "Shutdown", Interfaces: null, OSInfo: { Name: "" }, PanicCount: 0 },
    });
    expect(decodeDomainDocument(json)).toMatchObject({
      ObjectMeta: { uid: "u-2" },
      Status: { Status: "Shutoff", Reason: "Shutdown" },
    });
  });

  it.each([
    ["a state nobody knows", { Status: { Status: "Flying", Reason: 7 } }, { Status: "NoState", Reason: "Unknown" }],
    [
      "interfaces of the wrong type",
      { Status: { Interfaces: [7, { IPs: [1, "::1"] }] } },
      { Interfaces: [{}, { IPs: ["::1"] }] },
    ],
  ])("keeps only what has the right type: %s", (_name, part, expected) => {
    const json = JSON.stringify({ ObjectMeta: { name: "a", namespace: "b" }, ...part });
    expect(decodeDomainDocument(json).Status).toMatchObject(expected);
  });

  it.each([
    ["no JSON", "{"],
    ["no name", "{}"],
    ["a list", "[]"],
    ["null", "null"],
    ["too long", " ".repeat(5 * 1024 * 1024)],
  ])("refuses %s", (_name, json) => {
    expect(() => decodeDomainDocument(json)).toThrowError(expect.objectContaining({ code: "ProtocolMalformed" }));
  });
});
