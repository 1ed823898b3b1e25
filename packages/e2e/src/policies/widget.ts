import type { PolicyRequest } from "./policy-case.ts";
import type { Random } from "./random.ts";

const text = { type: "string" } as const;
const byName = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] } as const;

/** A kind with every way of merging in its schema: the objects of most cases. */
const widgetSpec = {
  type: "object",
  properties: {
    replicas: { type: "integer" },
    ratio: { type: "number" },
    name: text,
    enabled: { type: "boolean" },
    tags: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    notes: { type: "array", items: text },
    labels: { type: "object", additionalProperties: text },
    sealed: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
    fixed: { type: "object", properties: { a: text, b: text }, "x-kubernetes-map-type": "atomic" },
    items: {
      type: "array",
      ...byName,
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: text,
          size: { type: "integer" },
          env: {
            type: "array",
            ...byName,
            items: { type: "object", required: ["name"], properties: { name: text, value: text } },
          },
        },
      },
    },
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      items: {
        type: "object",
        required: ["port", "protocol"],
        properties: { port: { type: "integer" }, protocol: { ...text, default: "TCP" }, note: text },
      },
    },
    nested: { type: "object", properties: { a: { type: "object", properties: { b: text, c: { type: "integer" } } } } },
    port: { "x-kubernetes-int-or-string": true },
    when: { ...text, format: "date-time" },
    wait: text,
    memory: text,
    version: text,
    address: text,
    link: text,
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    // What hooks of plug-ins look at.
    devices: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    volumes: {
      type: "array",
      ...byName,
      items: {
        type: "object",
        required: ["name"],
        properties: { name: text, image: { type: "object", properties: { image: text, pullPolicy: text } } },
      },
    },
  },
} as const;

const group = "policies.example.com";

export const widgets = `/apis/${group}/v1/namespaces/<namespace>/widgets`;

/** What validating policies are about; mutating ones must not speak of deletions. */
export const widgetRules = [
  { apiGroups: [group], apiVersions: ["v1"], operations: ["CREATE", "UPDATE", "DELETE"], resources: ["widgets"] },
];
export const widgetWriteRules = widgetRules.map((rule) => ({ ...rule, operations: ["CREATE", "UPDATE"] }));

export const widgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec: widgetSpec } } },
      },
    ],
  },
};

export type WidgetSpec = Readonly<Record<string, unknown>>;

/** A JSON patch. */
export const replaceSpec = (value: WidgetSpec): object => [{ op: "replace", path: "/spec", value }];

function widget(name: string, spec: WidgetSpec, labels: Readonly<Record<string, string>>): object {
  const labelled = Object.keys(labels).length === 0 ? {} : { labels };
  return { apiVersion: `${group}/v1`, kind: "Widget", metadata: { name, ...labelled }, spec };
}

export const createWidget = (
  name: string,
  spec: WidgetSpec,
  labels: Readonly<Record<string, string>> = { app: name },
): PolicyRequest => ({
  method: "POST",
  path: widgets,
  body: widget(name, spec, labels),
});

const itemOf = (random: Random, name: string): object => ({
  name,
  ...(random.chance(0.8) ? { size: random.below(10) } : {}),
  ...(random.chance(0.3) ? { env: random.some(["A", "B", "C"]).map((env) => ({ name: env, value: name })) } : {}),
});

/** How each field of a widget may be filled. */
const fillers: Readonly<Record<string, (random: Random) => unknown>> = {
  replicas: (random) => random.below(10),
  ratio: (random) => random.pick([0.5, 1, 2.25, -3]),
  name: (random) => random.pick(["abc", "web", "x-1", "Größe", "", "a/b~c"]),
  enabled: (random) => random.chance(0.5),
  tags: (random) => random.some(["a", "b", "c", "d"]),
  notes: (random) => random.some(["x", "z", "y", "x y"]),
  labels: (random) =>
    Object.fromEntries(random.some(["app", "tier", "a.b/c"]).map((key) => [key, random.pick(["web", "db"])])),
  sealed: (random) => ({ key: random.pick(["one", "two"]) }),
  fixed: (random) => ({ a: random.pick(["one", "two"]) }),
  items: (random) => random.some(["i1", "i2", "i3"]).map((name) => itemOf(random, name)),
  ports: (random) => random.some([80, 443]).map((port) => ({ port, protocol: random.pick(["TCP", "UDP"]) })),
  nested: (random) => (random.chance(0.7) ? { a: { b: random.pick(["c", "d"]) } } : {}),
  port: (random) => random.pick([8080, "http"]),
  when: (random) => random.pick(["2020-02-29T23:30:00Z", "2021-05-01T10:00:00+02:00"]),
  wait: (random) => random.pick(["90m", "1h0m0s", "soon"]),
  memory: (random) => random.pick(["1Gi", "512Mi", "1500M", "much"]),
  version: (random) => random.pick(["1.2.3", "2.0.0-rc.1", "v1.10.0", "latest"]),
  address: (random) => random.pick(["192.168.0.1", "::1", "fe80::1", "nowhere"]),
  link: (random) => random.pick(["https://example.com:80/path?q=1&q=2", "/relative", "::"]),
  free: (random) => random.pick([{ x: 1 }, { x: [1, "two", null] }, {}]),
};

export function randomSpec(random: Random, presence = 0.75): WidgetSpec {
  return Object.fromEntries(
    random.some(Object.keys(fillers), presence).map((field) => [field, fillers[field]?.(random)]),
  );
}
