import type { Container, Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { resolveEnvironment, expand } from "./environment.ts";

const pod: Pod = {
  metadata: { name: "p", namespace: "ns", uid: "u", labels: { app: "x" }, annotations: { note: 'a "b"' } },
  spec: { containers: [], serviceAccountName: "robot" },
};
const facts = {
  nodeName: "n",
  hostIP: "127.0.0.1",
  podIP: "127.0.0.2",
  allocatable: new Map([
    ["cpu", 4000],
    ["memory", 1024],
  ]),
};
const sources = {
  configMap: (name: string) => (name === "cm" ? { metadata: {}, data: { one: "1", two: "2" } } : undefined),
  secret: (name: string) =>
    name === "s" ? { metadata: {}, data: { pass: Buffer.from("word").toString("base64") } } : undefined,
};

function resolve(container: Partial<Container>): Record<string, string> {
  const result = resolveEnvironment(
    pod,
    { name: "c", ...container },
    { base: new Map([["PATH", "/bin"]]), facts, sources },
  );
  return Object.fromEntries(result);
}

const field = (fieldPath: string) => ({ env: [{ name: "V", valueFrom: { fieldRef: { fieldPath } } }] });
const resource = (name: string, divisor?: string) => ({
  resources: { limits: { cpu: "1500m", memory: "3Mi" }, requests: { cpu: "500m" } },
  env: [
    { name: "V", valueFrom: { resourceFieldRef: { resource: name, ...(divisor === undefined ? {} : { divisor }) } } },
  ],
});

describe("resolveEnvironment", () => {
  it.each([
    ["the base", {}, { PATH: "/bin" }],
    ["plain values", { env: [{ name: "A", value: "1" }, { name: "B" }] }, { A: "1", B: "" }],
    [
      "references to earlier values",
      {
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "$(A)-$(C)-$$(A)" },
          { name: "C", value: "3" },
        ],
      },
      { B: "1-$(C)-$(A)" },
    ],
    [
      "envFrom with a prefix",
      { envFrom: [{ prefix: "X_", configMapRef: { name: "cm" } }] },
      { X_one: "1", X_two: "2" },
    ],
    [
      "env over envFrom",
      { envFrom: [{ configMapRef: { name: "cm" } }], env: [{ name: "one", value: "mine" }] },
      { one: "mine", two: "2" },
    ],
    ["secret keys", { env: [{ name: "P", valueFrom: { secretKeyRef: { name: "s", key: "pass" } } }] }, { P: "word" }],
    [
      "optional references to nothing",
      {
        envFrom: [{ secretRef: { name: "none", optional: true } }],
        env: [{ name: "P", valueFrom: { secretKeyRef: { name: "none", key: "x", optional: true } } }],
      },
      { PATH: "/bin" },
    ],
    ["name", field("metadata.name"), { V: "p" }],
    ["namespace", field("metadata.namespace"), { V: "ns" }],
    ["uid", field("metadata.uid"), { V: "u" }],
    ["a label", field("metadata.labels['app']"), { V: "x" }],
    ["an annotation", field("metadata.annotations['note']"), { V: 'a "b"' }],
    ["node", field("spec.nodeName"), { V: "n" }],
    ["service account", field("spec.serviceAccountName"), { V: "robot" }],
    ["pod address", field("status.podIP"), { V: "127.0.0.2" }],
    ["host address", field("status.hostIP"), { V: "127.0.0.1" }],
    ["cpu limit rounded up", resource("limits.cpu"), { V: "2" }],
    ["cpu limit in thousandths", resource("limits.cpu", "1m"), { V: "1500" }],
    ["cpu request", resource("requests.cpu", "1m"), { V: "500" }],
    ["memory limit in Mi", resource("limits.memory", "1Mi"), { V: "3" }],
    ["request that is only a limit", resource("requests.memory"), { V: "3145728" }],
  ] as [string, Partial<Container>, Record<string, string>][])("gives %s", (_name, container, expected) => {
    expect(resolve(container)).toMatchObject(expected);
  });

  it("takes the node's allocatable for a missing limit", () => {
    const container = { env: [{ name: "V", valueFrom: { resourceFieldRef: { resource: "limits.memory" } } }] };
    expect(resolve(container)["V"]).toBe("1024");
  });

  it.each([
    ["a missing config map", { envFrom: [{ configMapRef: { name: "none" } }] }, 'configmap "none" not found'],
    [
      "a missing secret",
      { env: [{ name: "P", valueFrom: { secretKeyRef: { name: "none", key: "k" } } }] },
      'secret "none" not found',
    ],
    [
      "a missing key",
      { env: [{ name: "P", valueFrom: { configMapKeyRef: { name: "cm", key: "nine" } } }] },
      "couldn't find key nine in configmap ns/cm",
    ],
    ["an unknown field", field("status.secret"), "refers to status.secret"],
  ] as [string, Partial<Container>, string][])("refuses %s", (_name, container, message) => {
    expect(() => resolve(container)).toThrow(message);
  });
});

describe("expand", () => {
  const environment = new Map([["A", "1"]]);
  it.each([
    ["$(A)", "1"],
    ["x$(A)y", "x1y"],
    ["$(B)", "$(B)"],
    ["$$(A)", "$(A)"],
    ["$$$(A)", "$1"],
    ["$A", "$A"],
    ["$(", "$("],
    ["a$", "a$"],
  ])("turns %s into %s", (text, expected) => {
    expect(expand(text, environment)).toBe(expected);
  });
});
