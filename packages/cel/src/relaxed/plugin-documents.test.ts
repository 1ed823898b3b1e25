import { describe, expect, it } from "vitest";
import { compileMutatingPolicy } from "../kube/mutating-policy.ts";
import { kubernetesEnvironment } from "../kube/kubernetes-environment.ts";
import { policyEnvironment } from "../kube/policy-environment.ts";
import type { StructuralSchema } from "../kube/structural-schema.ts";
import { compileValidatingPolicy } from "../kube/validating-policy.ts";
import { SEMVER, normalizeSemver } from "../lib/kubernetes/semver.ts";
import { DYN } from "../types.ts";
import { toJson } from "../values.ts";

/** Every expression of the plug-in proposal, with what its document says it does; each also in its strict form. */
describe("expressions of the structured plug-ins proposal", () => {
  const relaxed = policyEnvironment({ dialect: "relaxed", mutations: true });
  const strict = policyEnvironment({ mutations: true });

  /** Evaluates an expression, and its strict form in the strict language, which must agree. */
  function evaluate(expression: string, bindings: Record<string, unknown>): unknown {
    const program = relaxed.compile(expression);
    const value = toJson(program.evaluate(bindings));
    expect(toJson(strict.compile(program.strictSource).evaluate(bindings))).toEqual(value);
    return value;
  }

  const container = (name: string, limit?: string, request = limit): object =>
    limit === undefined ? { name } : { name, resources: { limits: { memory: limit }, requests: { memory: request } } };
  const pod = (...containers: object[]): object => ({ spec: { containers } });
  const withDisks = (...disks: object[]): object => ({ spec: { domain: { devices: { disks } } } });

  describe("pod match condition: memory limit above 8Gi", () => {
    const expression = "object.spec.containers.exists(c, c.resources.limits['memory'] > 8Gi)";
    it.each([
      ["a container above", pod(container("a", "9Gi")), true],
      ["exactly 8Gi", pod(container("a", "8Gi")), false],
      ["more bytes in another notation", pod(container("a", "9000000000")), true],
      ["less in another notation", pod(container("a", "8000M")), false],
      ["one without limits and one above", pod(container("a"), container("b", "10Gi")), true],
      ["no limits at all", pod(container("a")), false],
    ])("%s", (_name, object, matches) => {
      expect(evaluate(expression, { object })).toBe(matches);
    });

    it("is a quantity comparison in strict CEL", () => {
      expect(relaxed.compile(expression).strictSource).toBe(
        'object.?spec.?containers.orValue([]).exists(c, c.?resources.?limits[?"memory"].hasValue() && quantity(string(c.resources.limits["memory"])).isGreaterThan(quantity("8Gi")))',
      );
    });
  });

  it("pod validation: memory requests equal limits", () => {
    const expression = "object.spec.containers.all(c, c.resources.requests['memory'] == c.resources.limits['memory'])";
    expect(evaluate(expression, { object: pod(container("a", "9Gi")) })).toBe(true);
    expect(evaluate(expression, { object: pod(container("a", "9Gi", "1Gi")) })).toBe(false);
    expect(evaluate(expression, { object: pod(container("a", "9Gi"), container("b")) })).toBe(true);
  });

  it("pod match condition: no volume called mesh-config yet", () => {
    const expression = "!object.spec.volumes.exists(v, v.name == 'mesh-config')";
    expect(evaluate(expression, { object: pod() })).toBe(true);
    expect(evaluate(expression, { object: { spec: { volumes: [{ name: "other" }] } } })).toBe(true);
    expect(evaluate(expression, { object: { spec: { volumes: [{ name: "mesh-config" }] } } })).toBe(false);
  });

  it("VMI match condition: a disk on the IDE bus", () => {
    const expression = "object.spec.domain.devices.disks.exists(d, d.disk.bus == 'ide')";
    expect(evaluate(expression, { object: withDisks({ disk: { bus: "ide" } }) })).toBe(true);
    expect(evaluate(expression, { object: withDisks({ cdrom: { bus: "ide" } }, { disk: { bus: "virtio" } }) })).toBe(
      false,
    );
    expect(evaluate(expression, { object: { spec: { domain: {} } } })).toBe(false);
  });

  it("VMI validation: IDE is never allowed", () => {
    expect(evaluate("false", { object: {} })).toBe(false);
  });

  it("VMI match condition: TLB flush not set", () => {
    const expression = "object.spec.domain.features.hyperv.tlbflush == null";
    const features = (hyperv: object): object => ({ spec: { domain: { features: { hyperv } } } });
    expect(evaluate(expression, { object: { spec: { domain: {} } } })).toBe(true);
    expect(evaluate(expression, { object: features({}) })).toBe(true);
    expect(evaluate(expression, { object: features({ tlbflush: { enabled: false } }) })).toBe(false);
  });

  describe("plug-in selector conditions", () => {
    const environment = kubernetesEnvironment({ variables: { vmi: DYN }, dialect: "relaxed" });
    const vmi = (phase: string, ...conditions: [string, string][]): object => ({
      status: { phase, conditions: conditions.map(([type, status]) => ({ type, status })) },
    });
    it.each([
      ["vmi.status.phase == 'Running'", vmi("Running"), true],
      ["vmi.status.phase == 'Running'", vmi("Pending"), false],
      ["vmi.status.phase == 'Running'", {}, false],
      ["vmi.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", vmi("", ["Ready", "True"]), true],
      ["vmi.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", vmi("", ["Ready", "False"]), false],
      [
        "vmi.status.conditions.exists(c, c.type == 'LiveMigratable' && c.status == 'True')",
        vmi("", ["Ready", "True"]),
        false,
      ],
      ["vmi.status.conditions.exists(c, c.type == 'LiveMigratable' && c.status == 'True')", {}, false],
    ])("%s", (expression, object, expected) => {
      expect(environment.compile(expression).evaluate({ vmi: object })).toBe(expected);
    });
  });

  describe("version conditions", () => {
    const environment = kubernetesEnvironment({ variables: { version: SEMVER }, dialect: "relaxed" });
    it.each([
      ["version > 1.5", "1.10.0", true],
      ["version > 1.5", "v1.8.2", true],
      ["version > 1.5", "1.5.0", false],
      ["version > 1.5", "1.4.9", false],
      ["version > 9.0.0", "10.1.0", true],
      ["version > 9.0.0", "9.0.0", false],
      ["version > 9.0.0", "9.0.1", true],
    ])("%s with %s", (expression, version, expected) => {
      expect(environment.compile(expression).evaluate({ version: normalizeSemver(version) })).toBe(expected);
    });

    it("compares versions in strict CEL", () => {
      expect(environment.compile("version > 1.5").strictSource).toBe('version.isGreaterThan(semver("1.5.0"))');
    });
  });

  it("domain hook: a disk is appended", () => {
    const expression = `
      object.spec.devices.disks + [
        {
          "name": "monitoring-disk",
          "disk": {
            "bus": "virtio"
          }
        }
      ]`;
    const added = { name: "monitoring-disk", disk: { bus: "virtio" } };
    expect(evaluate(expression, { object: { spec: { devices: { disks: [{ name: "root" }] } } } })).toEqual([
      { name: "root" },
      added,
    ]);
    expect(evaluate(expression, { object: { spec: { devices: {} } } })).toEqual([added]);
  });

  const listByName: StructuralSchema = {
    type: "array",
    items: { type: "object" },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
  };
  const podSchema: StructuralSchema = {
    type: "object",
    properties: { spec: { type: "object", properties: { volumes: listByName } } },
  };
  const request = { operation: "CREATE" };

  it("pod mutation: the mesh-config volume is added beside the others", () => {
    const policy = compileMutatingPolicy(
      {
        matchConditions: [{ name: "no-mesh", expression: "!object.spec.volumes.exists(v, v.name == 'mesh-config')" }],
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: {
              expression: `
                Object{
                  spec: Object.spec{
                    volumes: Object.spec.volumes + [
                      { name: "mesh-config", image: { image: "mesh/config-bundle:v1", pullPolicy: "IfNotPresent" } }
                    ]
                  }
                }`,
            },
          },
        ],
      },
      { dialect: "relaxed" },
    );
    expect(policy.problems).toEqual([]);
    const result = policy.evaluate({ object: { spec: { volumes: [{ name: "data" }] } }, request, schema: podSchema });
    const mesh = { name: "mesh-config", image: { image: "mesh/config-bundle:v1", pullPolicy: "IfNotPresent" } };
    expect(result.object).toEqual({ spec: { volumes: [{ name: "data" }, mesh] } });
    expect(policy.evaluate({ object: result.object, request, schema: podSchema }).matched).toBe(false);
  });

  it("VMI mutation: Hyper-V features are added to those that are set", () => {
    const policy = compileMutatingPolicy(
      {
        matchConditions: [{ name: "x", expression: "object.spec.domain.features.hyperv.tlbflush == null" }],
        mutations: [
          {
            patchType: "ApplyConfiguration",
            applyConfiguration: {
              expression: `
                Object{
                  spec: Object.spec{
                    domain: Object.spec.domain{
                      features: Object.spec.domain.features{
                        hyperv: Object.spec.domain.features.hyperv + {
                          tlbflush: { enabled: true }, vpindex: { enabled: true }
                        }
                      }
                    }
                  }
                }`,
            },
          },
        ],
      },
      { dialect: "relaxed" },
    );
    const object = { spec: { domain: { features: { hyperv: { relaxed: { enabled: true } } } } } };
    expect(policy.evaluate({ object, request }).object).toEqual({
      spec: {
        domain: {
          features: {
            hyperv: { relaxed: { enabled: true }, tlbflush: { enabled: true }, vpindex: { enabled: true } },
          },
        },
      },
    });
  });

  it("VMI mutation: the bus of the first disk is replaced by a JSON patch", () => {
    const expression = '[JSONPatch{op: "replace", path: "/spec/domain/devices/disks/0/disk/bus", value: "virtio"}]';
    const policy = compileMutatingPolicy({ mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }] });
    const result = policy.evaluate({ object: withDisks({ disk: { bus: "ide" } }), request });
    expect(result.object).toEqual(withDisks({ disk: { bus: "virtio" } }));
  });

  it("compact policies deny with their message", () => {
    const policy = compileValidatingPolicy(
      {
        matchConditions: [
          { name: "large", expression: "object.spec.containers.exists(c, c.resources.limits['memory'] > 8Gi)" },
        ],
        validations: [
          {
            expression: "object.spec.containers.all(c, c.resources.requests['memory'] == c.resources.limits['memory'])",
            message: "Memory requests must equal limits for high-memory pods",
          },
        ],
      },
      { dialect: "relaxed" },
    );
    expect(policy.evaluate({ object: pod(container("a", "1Gi", "512Mi")), request }).matched).toBe(false);
    expect(policy.evaluate({ object: pod(container("a", "9Gi", "1Gi")), request }).decisions).toEqual([
      {
        action: "Deny",
        index: 0,
        failed: false,
        message: "Memory requests must equal limits for high-memory pods",
        reason: "Invalid",
      },
    ]);
  });
});
