import { describe, expect, it } from "vitest";
import type { PolicyRule } from "@polyvirt/api/k8s";
import { roleAccess, virtOperatorAccess } from "./operator-access.ts";
import { defaultRole, userRoles } from "./user-access.ts";
import { virtHandlerAccess } from "./virt-handler-access.ts";

/** Single rights, as `patch kubevirt.io/virtualmachineinstances`. */
function rightsOf(rules: readonly PolicyRule[]): Set<string> {
  return new Set(
    rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = ["*"] }) =>
      verbs.flatMap((verb) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`)),
        ),
      ),
    ),
  );
}

describe("rights", () => {
  it("are spelled out: no role has a wildcard", () => {
    for (const { cluster, namespace } of [...roleAccess, virtOperatorAccess]) {
      for (const { verbs, apiGroups = [], resources = [] } of [...cluster, ...namespace]) {
        expect([...verbs, ...apiGroups, ...resources]).not.toContain("*");
      }
    }
  });

  it("let virt-handler create nothing but events, delete nothing, and see no secrets or pods", () => {
    const rights = [...rightsOf([...virtHandlerAccess.cluster, ...virtHandlerAccess.namespace])];
    expect(rights.filter((right) => right.startsWith("create "))).toEqual(["create /events *"]);
    expect(rights.filter((right) => right.startsWith("delete") || / \/(secrets|pods|configmaps)/.test(right))).toEqual(
      [],
    );
  });

  it("are held by virt-operator wherever it grants them", () => {
    const own = rightsOf([...virtOperatorAccess.cluster, ...virtOperatorAccess.namespace]);
    const granted = rightsOf([
      ...roleAccess.flatMap(({ cluster, namespace }) => [...cluster, ...namespace]),
      ...userRoles.flatMap(({ rules }) => rules),
      ...defaultRole.rules,
    ]);
    expect([...granted].filter((right) => !own.has(right))).toEqual([]);
  });

  it("let viewers look and change nothing", () => {
    const view = userRoles.find(({ aggregateTo }) => aggregateTo === "view");
    const verbs = new Set(view?.rules.flatMap((rule) => rule.verbs));
    expect(verbs).toEqual(new Set(["get", "list", "watch"]));
  });
});
