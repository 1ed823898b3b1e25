import { describe, expect, it } from "vitest";

import type { JsonObject } from "../json.ts";
import { definition } from "./schema.ts";
import { decodeTyped } from "./typed-decode.ts";
import { fillZeroValues } from "./zero-values.ts";

const name = "io.k8s.api.core.v1.Pod";
const decode = (value: JsonObject) => {
  const unknown: string[] = [];
  const object = decodeTyped(value, { apiVersion: "v1", kind: "Pod" }, definition(name), {
    onUnknown: (path) => unknown.push(path),
  });
  return { object, unknown };
};

describe("reading built-in kinds", () => {
  it("drops nulls and unknown fields, and writes quantities in their canonical form", () => {
    const { object, unknown } = decode({
      metadata: { name: "p", creationTimestamp: null },
      spec: { nope: 1, containers: [{ name: "c", what: {}, resources: { limits: { cpu: 0.5, memory: "1024Mi" } } }] },
    });
    expect(object).toEqual({
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", resources: { limits: { cpu: "500m", memory: "1Gi" } } }] },
    });
    expect(unknown).toEqual(["spec.nope", "spec.containers[0].what"]);
  });

  it.each<[JsonObject, RegExp]>([
    [
      { spec: { containers: "x" } },
      /cannot unmarshal string into Go struct field PodSpec.spec.containers of type \[\]v1.Container/,
    ],
    [
      { spec: { containers: [{ ports: [{ containerPort: "80" }] }] } },
      /cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32/,
    ],
    [
      { spec: { hostNetwork: "yes" } },
      /cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool/,
    ],
    [
      { metadata: { labels: { a: 1 } } },
      /cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string/,
    ],
    [
      { spec: { containers: [{ resources: { limits: { cpu: "zz" } } }] } },
      /quantities must match the regular expression/,
    ],
    [
      { spec: { containers: [{ livenessProbe: { httpGet: { port: 1.5 } } }] } },
      /cannot unmarshal number 1.5 into .* of type intstr.IntOrString/,
    ],
  ])("says where the type is wrong: %j", (value, message) => {
    expect(() => decode(value)).toThrow(message);
  });

  it("fills in what those types always write", () => {
    const object: JsonObject = { spec: { containers: [{ name: "c" }] } };
    fillZeroValues(object, name);
    expect(object).toEqual({ spec: { containers: [{ name: "c", resources: {} }] }, status: {} });
  });
});
