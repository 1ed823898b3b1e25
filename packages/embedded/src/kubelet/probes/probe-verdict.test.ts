import { describe, expect, it } from "vitest";
import { containerVerdict, foldProbe, initialProbeState, type ProbeState } from "./probe-verdict.ts";

describe("foldProbe", () => {
  const fold = (results: string, probe = {}): string[] => {
    let state = initialProbeState;
    return results.split("").map((result) => {
      state = foldProbe(state, result === "+", probe);
      return state.verdict;
    });
  };
  it.each([
    ["+", {}, ["success"]],
    ["---", {}, ["unknown", "unknown", "failure"]],
    ["+--+", {}, ["success", "success", "success", "success"]],
    ["+---+", {}, ["success", "success", "success", "failure", "success"]],
    ["--+---", {}, ["unknown", "unknown", "success", "success", "success", "failure"]],
    ["++", { successThreshold: 2 }, ["unknown", "success"]],
    ["-", { failureThreshold: 1 }, ["failure"]],
  ])("%s with %j", (results, probe, expected) => {
    expect(fold(results, probe)).toEqual(expected);
  });
});

describe("containerVerdict", () => {
  const good: ProbeState = { verdict: "success", streak: 1 };
  const bad: ProbeState = { verdict: "failure", streak: 3 };
  it.each([
    ["no probes", {}, {}, { started: true, ready: true }],
    ["readiness unknown", { readinessProbe: {} }, {}, { started: true, ready: false }],
    ["readiness good", { readinessProbe: {} }, { readiness: good }, { started: true, ready: true }],
    ["startup not yet", { startupProbe: {} }, {}, { started: false, ready: false }],
    [
      "startup failed",
      { startupProbe: {} },
      { startup: bad },
      { started: false, ready: false, failedProbe: "startup" },
    ],
    [
      "liveness failed",
      { livenessProbe: {} },
      { liveness: bad },
      { started: true, ready: true, failedProbe: "liveness" },
    ],
  ] as const)("%s", (_name, container, states, expected) => {
    expect(containerVerdict({ name: "c", ...container }, states)).toEqual(expected);
  });
});
