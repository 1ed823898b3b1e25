import { boundPolicy, type PolicyCase, type PolicyRequest } from "./policy-case.ts";

const container = {
  name: "main",
  image: "example.com/main:1",
  env: [{ name: "A", value: "1" }],
  ports: [{ containerPort: 80 }],
  resources: { limits: { memory: "1Gi" } },
};

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [container, { name: "side", image: "example.com/side:1" }], nodeSelector: { disk: "fast" } },
    },
  },
};

const inPod = (fields: string): string =>
  `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{${fields}}}}}`;
const inContainers = (fields: string): string => inPod(`containers: [Object.spec.template.spec.containers{${fields}}]`);

/** Changes of a built-in kind, whose schema says by what its lists merge. */
const configurations: readonly string[] = [
  "Object{spec: Object.spec{replicas: 3}}",
  "Object{metadata: Object.metadata{labels: {'a': 'b'}, annotations: {'c': 'd'}}}",
  inContainers("name: 'main', env: [Object.spec.template.spec.containers.env{name: 'B', value: '2'}]"),
  inContainers("name: 'main', env: [Object.spec.template.spec.containers.env{name: 'A', value: 'changed'}]"),
  inContainers("name: 'added', image: 'example.com/added:1'"),
  inContainers("name: 'main', resources: Object.spec.template.spec.containers.resources{limits: {'cpu': '1'}}"),
  inContainers(
    "name: 'main', ports: [Object.spec.template.spec.containers.ports{containerPort: 443, protocol: 'TCP'}]",
  ),
  inContainers("name: 'main', command: ['sh']"),
  inPod("nodeSelector: {'zone': 'a'}"),
  inPod("tolerations: [Object.spec.template.spec.tolerations{key: 'k', operator: 'Exists'}]"),
  inPod(
    "volumes: [Object.spec.template.spec.volumes{name: 'v', emptyDir: Object.spec.template.spec.volumes.emptyDir{}}]",
  ),
  inPod("unknown: 'field'"),
  inPod("priority: 'high'"),
  "Object{spec: Object.spec{minReadySeconds: 5, paused: true}}",
  "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'x': 'y'}}}}",
];

const patches: readonly string[] = [
  "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 5}]",
  "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/0/args', value: ['--verbose']}]",
  "[JSONPatch{op: 'remove', path: '/spec/template/spec/containers/1'}]",
  "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.template.spec.containers{name: 'last', image: 'i'}}]",
  "object.spec.template.spec.containers.map(c, JSONPatch{op: 'replace', path: '/spec/template/spec/containers/' + string(object.spec.template.spec.containers.map(d, d.name).indexOf(c.name)) + '/image', value: c.image + '@latest'})",
];

const path = "/apis/apps/v1/namespaces/<namespace>/deployments";

export function builtinCases(): PolicyCase[] {
  const rules = [
    { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["deployments"] },
  ];
  const mutations = [
    ...configurations.map((expression) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } })),
    ...patches.map((expression) => ({ patchType: "JSONPatch", jsonPatch: { expression } })),
  ];
  const requests: readonly PolicyRequest[] = [
    { method: "POST", path, body: deployment },
    {
      method: "PATCH",
      path: `${path}/web`,
      body: [{ op: "add", path: "/metadata/labels", value: { changed: "yes" } }],
    },
  ];
  return mutations.map((mutation, index) => ({
    id: `deployment-${index}`,
    policies: boundPolicy("mutating", `deployment-${index}`, {
      namespace: `deployment-${index}`,
      spec: { matchConstraints: { resourceRules: rules }, reinvocationPolicy: "Never", mutations: [mutation] },
    }),
    requests,
  }));
}
