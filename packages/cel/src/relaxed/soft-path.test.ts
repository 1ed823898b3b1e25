import { describe, expect, it } from "vitest";
import { kubernetesEnvironment } from "../kube/kubernetes-environment.ts";
import { DYN } from "../types.ts";

describe("paths into data without a type", () => {
  const variables = { a: DYN, b: DYN };
  const relaxed = kubernetesEnvironment({ variables, dialect: "relaxed" });
  const strict = kubernetesEnvironment({ variables });

  it.each([
    ["a[0].transformList(k, v, k.x)", "a[?0].orValue(dyn([])).transformList(k, v, k.x)"],
    ["a[0] == 'x'", 'a[?0].orValue(dyn(null)) == "x"'],
    ["b in a['list']", 'b in a[?"list"].orValue(dyn([]))'],
    ["a.x.all(i, i > 1)", "a.?x.orValue([]).all(i, i > 1)"],
  ])("%s keeps the types of its parts open", (source, text) => {
    const { strictSource } = relaxed.compile(source);
    expect(strictSource).toBe(text);
    expect(strict.tryCompile(strictSource).ok).toBe(true);
  });
});
