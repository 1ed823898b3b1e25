import type { Clock, Logger } from "@polyvirt/core";

import type { Store } from "../../store/store.ts";
import { deepEqual, isJsonObject, valueAt } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { objectsIn } from "../kinds/pod-defaults.ts";
import { matchesSelector } from "../registry/label-selector.ts";
import type { Objects } from "../registry/objects.ts";
import { systemContext } from "../registry/request-context.ts";
import type { Resource } from "../registry/resource.ts";
import { WorkLoop } from "./work-loop.ts";

interface AggregatorDeps {
  readonly store: Store;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly clusterRoles: Resource;
}

const context = systemContext("clusterrole-aggregation-controller");

/** Cluster roles with an aggregation rule consist of the rules of all roles with the right labels: admin, edit, view. */
export class RoleAggregator {
  readonly #deps: AggregatorDeps;
  readonly #loop: WorkLoop;

  constructor(deps: AggregatorDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      name: "role aggregation",
      clock: deps.clock,
      logger: deps.logger,
      run: () => this.aggregate(),
    });
    const prefix = `${deps.clusterRoles.bucket}/`;
    deps.store.subscribe((events) => {
      if (events.some(({ key }) => key.startsWith(prefix))) this.#loop.add("all");
    });
  }

  start(): void {
    this.#loop.add("all");
  }

  stop(): void {
    this.#loop.stop();
  }

  async aggregate(): Promise<void> {
    const { objects, clusterRoles } = this.#deps;
    const roles = objects.list(clusterRoles);
    for (const role of roles) {
      const selectors = objectsIn(valueAt(role, "aggregationRule", "clusterRoleSelectors"));
      if (!isJsonObject(role["aggregationRule"])) continue;
      const rules = combinedRules(roles, role, selectors);
      if (deepEqual(rules, role["rules"] ?? [])) continue;
      const name = role.metadata.name ?? "";
      await objects.update(context, {
        resource: clusterRoles,
        namespace: "",
        name,
        subresource: "",
        change: (current) => ({ ...current, rules }),
      });
    }
  }
}

function combinedRules(roles: readonly ApiObject[], target: ApiObject, selectors: readonly object[]): unknown[] {
  const matching = roles.filter(
    (role) =>
      role.metadata.uid !== target.metadata.uid &&
      selectors.some((selector) => matchesSelector(selector, role.metadata.labels ?? {})),
  );
  const rules = matching.flatMap((role) => objectsIn(role["rules"]));
  return rules.filter((rule, index) => rules.findIndex((other) => deepEqual(other, rule)) === index);
}
