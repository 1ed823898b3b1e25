import { describe, expect, it } from "vitest";

import { decodeProtobuf } from "./decode-protobuf.ts";

const field = (number: number, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
};
const varint = (number: number, value: number): Buffer => Buffer.from([number << 3, value]);
const message = (...parts: Buffer[]): Buffer => Buffer.concat(parts);
const envelope = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  message(Buffer.from("k8s\0", "latin1"), field(1, message(field(1, apiVersion), field(2, kind))), field(2, raw));
const messageOf = (_version: string, kind: string): string | undefined =>
  ({
    Pod: "io.k8s.api.core.v1.Pod",
    Deployment: "io.k8s.api.apps.v1.Deployment",
    Secret: "io.k8s.api.core.v1.Secret",
    Service: "io.k8s.api.core.v1.Service",
  })[kind];

describe("protobuf bodies", () => {
  it("become the JSON they stand for, inlined messages and maps included", () => {
    const volume = message(field(1, "v"), field(2, field(1, message(field(1, "/data"), field(2, "")))));
    const container = message(
      field(1, "c"),
      field(2, ""),
      field(8, field(1, message(field(1, "cpu"), field(2, field(1, "500m"))))),
    );
    const pod = message(
      field(1, message(field(1, "p"), field(8, ""), field(11, message(field(1, "app"), field(2, "x"))))),
      field(2, message(field(1, volume), field(2, container))),
    );
    expect(decodeProtobuf(envelope("v1", "Pod", pod), messageOf)).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", labels: { app: "x" } },
      spec: {
        volumes: [{ name: "v", hostPath: { path: "/data", type: "" } }],
        containers: [{ name: "c", resources: { limits: { cpu: "500m" } } }],
      },
    });
  });

  it("keep a zero that means something and drop one that does not", () => {
    const spec = message(varint(1, 0), varint(5, 0), varint(7, 0));
    expect(decodeProtobuf(envelope("apps/v1", "Deployment", field(2, spec)), messageOf)).toMatchObject({
      spec: { replicas: 0 },
    });
    expect(decodeProtobuf(envelope("apps/v1", "Deployment", field(2, spec)), messageOf)["spec"]).not.toHaveProperty(
      "paused",
    );
  });

  it("know bytes, and ports that are numbers or names", () => {
    const secret = field(2, message(field(1, "k"), field(2, "hello")));
    expect(decodeProtobuf(envelope("v1", "Secret", secret), messageOf)).toMatchObject({ data: { k: "aGVsbG8=" } });
    const port = (target: Buffer) => field(2, field(1, message(varint(3, 80), field(4, target))));
    const named = message(varint(1, 1), varint(2, 0), field(3, "web"));
    expect(decodeProtobuf(envelope("v1", "Service", port(named)), messageOf)).toMatchObject({
      spec: { ports: [{ port: 80, targetPort: "web" }] },
    });
    const numbered = message(varint(1, 0), varint(2, 99), field(3, ""));
    expect(decodeProtobuf(envelope("v1", "Service", port(numbered)), messageOf)).toMatchObject({
      spec: { ports: [{ targetPort: 99 }] },
    });
  });

  it.each([
    ["no magic", Buffer.from("{}")],
    ["cut off", envelope("v1", "Pod", message(field(1, "abc"))).subarray(0, -1)],
    ["a number without end", envelope("v1", "Pod", Buffer.alloc(12, 0xff))],
    ["a text where a message should be", envelope("v1", "Pod", varint(1, 5))],
    ["an unknown kind", envelope("v1", "Nope", Buffer.alloc(0))],
    ["broken UTF-8", envelope("v1", "Pod", field(1, field(1, Buffer.from([0xff, 0xfe]))))],
  ])("are refused with 400 when they have %s", (_what, bytes) => {
    expect(() => decodeProtobuf(bytes, messageOf)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 400 }) }),
    );
  });

  it("are refused when they nest without end", () => {
    const props = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
    let schema = field(4, "x");
    // Field 28 is `not`, which holds such a schema again.
    for (let depth = 0; depth < 200; depth++) {
      const { length } = schema;
      const head = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
      schema = Buffer.concat([Buffer.from([(((28 << 3) | 2) & 0x7f) | 0x80, (28 << 3) >> 7, ...head]), schema]);
    }
    const raw = Buffer.concat([Buffer.from([(2 << 3) | 2, (schema.length & 0x7f) | 0x80, schema.length >> 7]), schema]);
    const bytes = message(Buffer.from("k8s\0", "latin1"), field(1, message(field(1, "v1"), field(2, "X"))), raw);
    expect(() => decodeProtobuf(bytes, () => props)).toThrow("proto: the message is nested too deeply");
  });
});
