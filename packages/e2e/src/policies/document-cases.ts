import { kubernetesEnvironment, policyEnvironment, SEMVER, types, type Environment } from "@polyvirt/cel";
import { createMachine, machinePath } from "./machine.ts";
import { boundPolicy, type PolicyCase, type PolicyRequest } from "./policy-case.ts";
import { createWidget } from "./widget.ts";

/**
 * Every expression of the proposal for structured plug-ins (VEP 190), in the words of its document, with inputs and with what
 * the document says comes of them. Servers get the strict form of each; a real one has to say the same as ours.
 */
const strict = (expression: string, environment: Environment): string => environment.compile(expression).strictSource;

const policies = policyEnvironment({ dialect: "relaxed", mutations: true });
const selectors = kubernetesEnvironment({ variables: { vmi: types.DYN }, dialect: "relaxed" });
const versions = kubernetesEnvironment({ variables: { version: SEMVER }, dialect: "relaxed" });

/** A name that the expressions of a hook know and those of policies do not. */
const bound = (name: string, value: string, expression: string): string => `[${value}].all(${name}, ${expression})`;

const rules = (group: string, resource: string, operations = ["CREATE", "UPDATE"]): object => ({
  resourceRules: [{ apiGroups: [group], apiVersions: ["v1"], operations, resources: [resource] }],
});

const condition = (expression: string): object[] => [{ name: "document", expression: strict(expression, policies) }];

interface DocumentPolicy {
  readonly constraints: object;
  readonly condition?: string;
}

function validating(
  id: string,
  { constraints, condition: when }: DocumentPolicy,
  validation: object,
): PolicyCase["policies"] {
  return boundPolicy("validating", id, {
    namespace: id,
    spec: {
      matchConstraints: constraints,
      ...(when === undefined ? {} : { matchConditions: condition(when) }),
      validations: [validation],
    },
    binding: { validationActions: ["Deny"] },
  });
}

function mutating(
  id: string,
  { constraints, condition: when }: DocumentPolicy,
  mutation: object,
): PolicyCase["policies"] {
  return boundPolicy("mutating", id, {
    namespace: id,
    spec: {
      matchConstraints: constraints,
      reinvocationPolicy: "Never",
      ...(when === undefined ? {} : { matchConditions: condition(when) }),
      mutations: [mutation],
    },
  });
}

const apply = (expression: string): object => ({
  patchType: "ApplyConfiguration",
  applyConfiguration: { expression: strict(expression, policies) },
});

// Pods -----------------------------------------------------------------------------------------------------------------

const account: PolicyRequest = {
  method: "POST",
  path: "/api/v1/namespaces/<namespace>/serviceaccounts",
  body: { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } },
};

function createPod(name: string, spec: object): PolicyRequest {
  const container = { name: "c", image: "example.com/c:1" };
  return {
    method: "POST",
    path: "/api/v1/namespaces/<namespace>/pods",
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: { automountServiceAccountToken: false, containers: [container], ...spec },
    },
  };
}

const withMemory = (...sizes: readonly (readonly [limit?: string, request?: string])[]): object => ({
  containers: sizes.map(([limit, request], index) => ({
    name: `c${index}`,
    image: "example.com/c:1",
    ...(limit === undefined
      ? {}
      : { resources: { limits: { memory: limit }, requests: { memory: request ?? limit } } }),
  })),
});

const memoryDenied = /denied request: Memory requests must equal limits for high-memory pods/;
const accepted = /^201/m;

const memory: PolicyCase = {
  id: "document-memory",
  objects: [account],
  policies: validating(
    "document-memory",
    {
      constraints: rules("", "pods"),
      condition: "object.spec.containers.exists(c, c.resources.limits['memory'] > 8Gi)",
    },
    {
      expression: strict(
        "object.spec.containers.all(c, c.resources.requests['memory'] == c.resources.limits['memory'])",
        policies,
      ),
      message: "Memory requests must equal limits for high-memory pods",
    },
  ),
  requests: [
    createPod("equal", withMemory(["9Gi"])),
    createPod("less", withMemory(["9Gi", "1Gi"])),
    createPod("small", withMemory(["8Gi", "1Gi"])),
    createPod("decimal", withMemory(["9000000000", "1Gi"])),
    createPod("small-decimal", withMemory(["8000M", "1Gi"])),
    createPod("one-of-two", withMemory([], ["10Gi", "9Gi"])),
    createPod("without-limits", withMemory([], ["10Gi"])),
    createPod("nothing", withMemory([])),
  ],
  expects: [accepted, memoryDenied, accepted, memoryDenied, accepted, memoryDenied, accepted, accepted],
};

const noMesh = "!object.spec.volumes.exists(v, v.name == 'mesh-config')";
const addMesh = (image: string): string => `Object{
  spec: Object.spec{
    volumes: Object.spec.volumes + [
      { name: "mesh-config", image: { ${image} } }
    ]
  }
}`;
const shortImage = 'image: "mesh/config-bundle:v1"';
const longImage = 'image: "mesh/config-bundle:v1", pullPolicy: "IfNotPresent"';
// A volume of Kubernetes names its image `reference`; the document's example is refused for it.
const referenced = 'reference: "mesh/config-bundle:v1", pullPolicy: "IfNotPresent"';

const meshOnPods = (id: string, image: string, expects: readonly RegExp[]): PolicyCase => ({
  id,
  objects: [account],
  policies: mutating(id, { constraints: rules("", "pods"), condition: noMesh }, apply(addMesh(image))),
  requests: [
    createPod("without", {}),
    createPod("with-other", { volumes: [{ name: "other", emptyDir: {} }] }),
    createPod("with-mesh", { volumes: [{ name: "mesh-config", emptyDir: {} }] }),
  ],
  expects,
});

const hasMesh = /"name": "mesh-config"/;
const unknownImage = /\.spec\.volumes\[name=\\"mesh-config\\"\]\.image\.image: field not declared in schema/;

// Machines -------------------------------------------------------------------------------------------------------------

const disk = (name: string, bus: string): object => ({ name, disk: { bus } });
const machines = rules("kubevirt.io", "virtualmachineinstances");
const ideDenied = /denied request: IDE bus type is not allowed by this plugin/;

const ide: PolicyCase = {
  id: "document-ide",
  policies: validating(
    "document-ide",
    { constraints: machines, condition: "object.spec.domain.devices.disks.exists(d, d.disk.bus == 'ide')" },
    { expression: strict("false", policies), message: "IDE bus type is not allowed by this plugin" },
  ),
  requests: [
    createMachine("ide", { devices: { disks: [disk("a", "virtio"), disk("b", "ide")] } }),
    createMachine("virtio", { devices: { disks: [disk("a", "virtio")] } }),
    createMachine("cdrom", { devices: { disks: [{ name: "a", cdrom: { bus: "ide" } }] } }),
    createMachine("none", {}),
  ],
  expects: [ideDenied, accepted, accepted, accepted],
};

const hyperv: PolicyCase = {
  id: "document-hyperv",
  policies: mutating(
    "document-hyperv",
    { constraints: machines, condition: "object.spec.domain.features.hyperv.tlbflush == null" },
    apply(`Object{
      spec: Object.spec{
        domain: Object.spec.domain{
          features: Object.spec.domain.features{
            hyperv: Object.spec.domain.features.hyperv + {
              tlbflush: { enabled: true }, vpindex: { enabled: true }
            }
          }
        }
      }
    }`),
  ),
  requests: [
    createMachine("without", {}),
    createMachine("with-other", { features: { hyperv: { relaxed: { enabled: true } } } }),
    createMachine("with-flush", { features: { hyperv: { tlbflush: { enabled: false } } } }),
  ],
  expects: [
    /"tlbflush": \{\s+"enabled": true\s+\},\s+"vpindex"/,
    /"relaxed": \{\s+"enabled": true\s+\},\s+"tlbflush": \{\s+"enabled": true\s+\},\s+"vpindex"/,
    /"tlbflush": \{\s+"enabled": false\s+\}\s+\}/,
  ],
};

const busPatch: PolicyCase = {
  id: "document-bus",
  policies: mutating(
    "document-bus",
    { constraints: machines },
    {
      patchType: "JSONPatch",
      jsonPatch: {
        expression: strict(
          '[JSONPatch{op: "replace", path: "/spec/domain/devices/disks/0/disk/bus", value: "virtio"}]',
          policies,
        ),
      },
    },
  ),
  requests: [
    createMachine("ide", { devices: { disks: [disk("a", "ide"), disk("b", "sata")] } }),
    createMachine("none", {}),
  ],
  expects: [/"bus": "virtio"[^]*"bus": "sata"/, /doc is missing path: \/spec\/domain\/devices\/disks\/0\/disk\/bus/],
};

const running = "vmi.status.phase == 'Running'";
const ready = "vmi.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')";
const migratable = "vmi.status.conditions.exists(c, c.type == 'LiveMigratable' && c.status == 'True')";

const setStatus = (status: object): PolicyRequest => ({
  method: "PATCH",
  path: `${machinePath}/machine/status`,
  body: [{ op: "add", path: "/status", value: status }],
});
const conditions = (...given: readonly (readonly [string, string])[]): object => ({
  conditions: given.map(([type, status]) => ({ type, status })),
});

/** A condition of a selector, asked about the status that a request wants to write. */
const selector = (
  id: string,
  expression: string,
  statuses: readonly (readonly [status: object, fulfilled: boolean])[],
): PolicyCase => ({
  id,
  objects: [createMachine("machine", {})],
  policies: validating(
    id,
    { constraints: rules("kubevirt.io", "virtualmachineinstances/status", ["UPDATE"]) },
    { expression: bound("vmi", "object", strict(expression, selectors)), message: "not selected" },
  ),
  requests: statuses.map(([status]) => setStatus(status)),
  expects: statuses.map(([, fulfilled]) => (fulfilled ? /^200/m : /denied request: not selected/)),
});

const selectorCases: readonly PolicyCase[] = [
  selector("document-running", running, [
    [{ phase: "Running" }, true],
    [{ phase: "Pending" }, false],
    [{}, false],
  ]),
  selector("document-ready", ready, [
    [conditions(["Ready", "True"]), true],
    [conditions(["Ready", "False"], ["LiveMigratable", "True"]), false],
    [{ phase: "Running" }, false],
  ]),
  selector("document-migratable", migratable, [
    [conditions(["Ready", "False"], ["LiveMigratable", "True"]), true],
    [conditions(["Ready", "True"]), false],
    [{}, false],
  ]),
];

// Hooks and versions, which no API server knows: a widget carries what they look at -----------------------------------------

const carriers = rules("policies.example.com", "widgets");

const version = (id: string, expression: string, given: Readonly<Record<string, boolean>>): PolicyCase => ({
  id,
  policies: validating(
    id,
    { constraints: carriers },
    {
      expression: bound("version", "semver(object.spec.version, true)", strict(expression, versions)),
      message: "too old",
    },
  ),
  requests: Object.keys(given).map((text, index) => createWidget(`v${index}`, { version: text })),
  expects: Object.values(given).map((newer) => (newer ? accepted : /denied request: too old/)),
});

const appended = (name: string): string => `
  object.spec.devices.disks + [
    {
      "name": "${name}",
      "disk": {
        "bus": "virtio"
      }
    }
  ]`;

/** The hook's result takes the place of the disks that it looked at. */
const domainHook = (id: string, name: string): PolicyCase => {
  const disks = strict(appended(name), policies);
  const jsonPatch = { expression: `[JSONPatch{op: "add", path: "/spec/devices/disks", value: ${disks}}]` };
  return {
    id,
    policies: mutating(id, { constraints: carriers }, { patchType: "JSONPatch", jsonPatch }),
    requests: [
      createWidget("with-disk", { devices: { disks: [{ name: "root" }] } }),
      createWidget("without-disks", { devices: {} }),
    ],
    expects: [new RegExp(`"name": "root"[^]*"name": "${name}"`), new RegExp(`"bus": "virtio"[^]*"name": "${name}"`)],
  };
};

/** The document's volume, where its name for the image is a field. */
const meshOnCarrier = (id: string, image: string): PolicyCase => ({
  id,
  policies: mutating(id, { constraints: carriers, condition: noMesh }, apply(addMesh(image))),
  requests: [
    createWidget("without", {}),
    createWidget("with-other", { volumes: [{ name: "other" }] }),
    createWidget("with-mesh", { volumes: [{ name: "mesh-config" }] }),
  ],
  expects: [
    /"volumes": \[\s+\{\s+"image": \{\s+"image": "mesh\/config-bundle:v1"/,
    /"name": "other"[^]*"image": "mesh\/config-bundle:v1"/,
    /"volumes": \[\s+\{\s+"name": "mesh-config"\s+\}\s+\]/,
  ],
});

export const documentCases: readonly PolicyCase[] = [
  memory,
  meshOnPods("document-mesh", shortImage, [unknownImage, unknownImage, hasMesh]),
  meshOnPods("document-mesh-long", longImage, [unknownImage, unknownImage, hasMesh]),
  meshOnPods("document-mesh-reference", referenced, [hasMesh, hasMesh, hasMesh]),
  ...[shortImage, longImage].map((image, index) => meshOnCarrier(`document-mesh-carrier-${index}`, image)),
  ide,
  hyperv,
  busPatch,
  ...selectorCases,
  version("document-kubevirt-version", "version > 1.5", {
    "1.10.0": true,
    "v1.8.2": true,
    "1.6": true,
    "1.5.0": false,
    "1.4.9": false,
  }),
  version("document-libvirt-version", "version > 9.0.0", {
    "10.1.0": true,
    "9.0.1": true,
    "9.0.0": false,
    "8.9.9": false,
  }),
  domainHook("document-hook", "monitoring-disk"),
  domainHook("document-extra-hook", "extra-disk"),
];
