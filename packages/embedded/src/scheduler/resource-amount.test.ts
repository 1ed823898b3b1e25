import { describe, expect, it } from "vitest";
import { amountOf, parseAmount, podRequests } from "./resource-amount.ts";

describe("parseAmount", () => {
  it.each([
    ["0", 0],
    ["1", 1],
    ["100m", 0.1],
    ["1.5", 1.5],
    ["128Mi", 134217728],
    ["1Gi", 1073741824],
    ["2k", 2000],
    ["1e3", 1000],
    ["1E", 1e18],
    ["-5", -5],
    [".5", 0.5],
    ["", Number.NaN],
    ["1Q", Number.NaN],
    ["Mi", Number.NaN],
    ["1 Gi", Number.NaN],
  ])("reads %j as %d", (text, value) => {
    expect(parseAmount(text)).toBe(value);
  });
});

describe("amountOf", () => {
  it.each([
    ["cpu", "100m", 100],
    ["cpu", "2", 2000],
    ["cpu", "0.1", 100],
    ["cpu", "1u", 1],
    ["memory", "1Ki", 1024],
    ["memory", "100m", 1],
    ["example.com/device", "3", 3],
  ])("counts %s %s as %d", (resource, quantity, amount) => {
    expect(amountOf(resource, quantity)).toBe(amount);
  });
});

describe("podRequests", () => {
  const container = (name: string, cpu: string, extra: object = {}) => ({
    name,
    resources: { requests: { cpu } },
    ...extra,
  });

  it.each([
    ["sums containers", { containers: [container("a", "1"), container("b", "500m")] }, 1500],
    [
      "takes the largest init container when it is more",
      { containers: [container("a", "1")], initContainers: [container("i", "3"), container("j", "2")] },
      3000,
    ],
    [
      "adds restartable init containers to the containers",
      {
        containers: [container("a", "1")],
        initContainers: [container("s", "1", { restartPolicy: "Always" as const })],
      },
      2000,
    ],
    [
      "adds restartable init containers to later init containers only",
      {
        containers: [container("a", "100m")],
        initContainers: [
          container("i", "2"),
          container("s", "1", { restartPolicy: "Always" as const }),
          container("j", "1500m"),
        ],
      },
      2500,
    ],
    ["adds the overhead", { containers: [container("a", "1")], overhead: { cpu: "250m" } }, 1250],
    ["takes limits for missing requests", { containers: [{ name: "a", resources: { limits: { cpu: "2" } } }] }, 2000],
  ])("%s", (_name, spec, cpu) => {
    expect(podRequests(spec).get("cpu")).toBe(cpu);
  });
});
