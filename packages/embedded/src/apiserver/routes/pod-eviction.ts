import { StatusError, tooManyRequests, methodNotAllowed } from "../http/status-error.ts";
import { isJsonObject, valueAt, textOf } from "../json.ts";
import { matchesSelector } from "../registry/label-selector.ts";
import { parseDeleteOptions } from "../registry/deletion.ts";
import { timestamp } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Call, ResourceDeps } from "./resource-call.ts";
import type { SubresourceHandler } from "./resource-route.ts";

/** Deletes a pod unless a disruption budget forbids it now; each granted eviction uses up one allowed disruption. */
export function podEviction(
  deps: Pick<ResourceDeps, "objects" | "deletion" | "clock">,
  budgets: Resource,
): SubresourceHandler {
  return async (call, verb) => {
    const { exchange, resource, namespace, target } = call;
    if (verb !== "create") throw methodNotAllowed();
    const { value } = await exchange.parsedBody();
    const context = exchange.context();
    const pod = deps.objects.get(resource, namespace, target.name);
    const phase = valueAt(pod, "status", "phase");
    const isRunning = phase !== "Succeeded" && phase !== "Failed" && phase !== "Pending";
    if (isRunning && pod.metadata.deletionTimestamp === undefined)
      await useBudget(deps, call, budgets, pod.metadata.labels ?? {});
    const options = parseDeleteOptions(valueAt(value, "deleteOptions"), exchange.query);
    const dryRun = context.dryRun || options.dryRun?.includes("All") === true;
    await deps.deletion.delete({ ...context, dryRun }, resource, namespace, target.name, options);
    exchange.send(201, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, call.format);
  };
}

async function useBudget(
  { objects, clock }: Pick<ResourceDeps, "objects" | "clock">,
  { exchange, namespace, target }: Call,
  budgets: Resource,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const matching = objects
    .list(budgets, namespace)
    .filter((budget) => matchesSelector(valueAt(budget, "spec", "selector"), labels));
  const [budget, another] = matching;
  if (budget === undefined) return;
  if (another !== undefined) {
    throw new StatusError(
      500,
      "InternalError",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  const name = budget.metadata.name ?? "";
  await objects.update(exchange.context(), {
    resource: budgets,
    namespace,
    name,
    subresource: "status",
    change(current) {
      const status = isJsonObject(current["status"]) ? current["status"] : {};
      const allowed = Number(status["disruptionsAllowed"] ?? 0);
      if (allowed <= 0) {
        throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", {
          causes: [
            {
              reason: "DisruptionBudget",
              message: `The disruption budget ${name} needs ${textOf(status["desiredHealthy"] ?? 0)} healthy pods and has ${textOf(status["currentHealthy"] ?? 0)} currently`,
            },
          ],
        });
      }
      const disrupted = isJsonObject(status["disruptedPods"]) ? status["disruptedPods"] : {};
      const now = timestamp(clock.now());
      return {
        ...current,
        status: { ...status, disruptionsAllowed: allowed - 1, disruptedPods: { ...disrupted, [target.name]: now } },
      };
    },
  });
}
