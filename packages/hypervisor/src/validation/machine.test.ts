import { describe, expect, it } from "vitest";
import { type Case, causes, causeOf } from "../testing/validation.ts";

describe("machine", () => {
  it.each<Case>([
    {
      domain: { machine: { type: "pc-i440fx-2.10" } },
      field: "spec.domain.machine.type",
      message: "spec.domain.machine.type is not supported: pc-i440fx-2.10 (allowed values: [q35* pc-q35*])",
    },
    {
      spec: { architecture: "ppc64le" },
      reason: "FieldValueNotSupported",
      field: "spec.architecture",
      message: "unsupported architecture: ppc64le (known: amd64, arm64, s390x)",
    },
    {
      spec: { startStrategy: "Later" },
      field: "spec.startStrategy",
      message: "spec.startStrategy is set with an unrecognized option: Later",
    },
    {
      spec: { startStrategy: "Paused", livenessProbe: { exec: { command: ["true"] } } },
      field: "spec.startStrategy",
      message:
        "either spec.startStrategy or spec.livenessProbe should be provided.Pausing VMI with LivenessProbe is not supported",
    },
    {
      spec: { evictionStrategy: "Never" },
      field: "spec.evictionStrategy",
      message: "spec.evictionStrategy is set with an unrecognized option: Never",
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });

  it("names the rules that a hostname or subdomain breaks", () => {
    const found = causes({ spec: { hostname: "Not_A_Label", subdomain: "bad..domain" } });
    expect(found[0]?.message).toMatch(/^spec\.hostname does not conform to the kubernetes DNS_LABEL rules : /);
    expect(found[1]?.message).toMatch(/^spec\.subdomain does not conform to the kubernetes DNS_SUBDOMAIN rules : /);
  });
});
