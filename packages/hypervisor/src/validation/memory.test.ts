import { describe, expect, it } from "vitest";
import { type Case, causes, causeOf, limits, requests } from "../testing/validation.ts";

describe("memory", () => {
  it("accepts a small valid VMI", () => {
    expect(causes({})).toEqual([]);
  });

  it.each<Case>([
    {
      domain: { memory: {} },
      reason: "FieldValueRequired",
      field: "spec.domain.memory.guest",
      message:
        "no memory requested, at least one of 'spec.domain.memory.guest', 'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' must be set",
    },
    {
      domain: { resources: { requests: { memory: "-1" } } },
      field: `${requests}.memory`,
      message: `${requests}.memory '-1': must be greater than or equal to 0.`,
    },
    {
      domain: { resources: { requests: { memory: "64k" } } },
      field: `${requests}.memory`,
      message: `${requests}.memory '64k': must be greater than or equal to 1M.`,
    },
    {
      domain: { resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } } },
      field: `${requests}.memory`,
      message: `${requests}.memory '2Gi' is greater than ${limits}.memory '1Gi'`,
    },
    {
      domain: { resources: { limits: { memory: "-65Mi" } } },
      field: `${limits}.memory`,
      message: `${limits}.memory '-65Mi': must be greater than or equal to 0.`,
    },
    {
      domain: { memory: { guest: "64Mi", hugepages: { pageSize: "2ki" } } },
      field: "spec.domain.memory.hugepages.pageSize",
      message:
        "spec.domain.memory.hugepages.pageSize '2ki': quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    },
    {
      domain: { memory: { hugepages: { pageSize: "1Gi" } }, resources: { requests: { memory: "64Mi" } } },
      field: `${requests}.memory`,
      message: `${requests}.memory '64Mi' must be equal to or larger than page size spec.domain.memory.hugepages.pageSize '1Gi'`,
    },
    {
      domain: { memory: { hugepages: { pageSize: "2Mi" } }, resources: { requests: { memory: "65Mi" } } },
      field: `${requests}.memory`,
      message: `${requests}.memory '65Mi' is not a multiple of the page size spec.domain.memory.hugepages.pageSize '2Mi'`,
    },
    {
      domain: { memory: { guest: "2Gi" }, resources: { limits: { memory: "1Gi" } } },
      configuration: { vmRolloutStrategy: "Stage" },
      field: "spec.domain.memory.guest",
      message: `spec.domain.memory.guest '2Gi' must be equal to or less than the memory limit ${limits}.memory '1Gi'`,
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });
});
