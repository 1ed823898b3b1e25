import { jsonEqual, type Clock } from "@polyvirt/core";
import type { KubeVirt } from "@polyvirt/api";
import type { EventRecorder, KubeClient } from "@polyvirt/kube";
import type { Installation } from "./installation.ts";
import { writeStatus } from "./kubevirt-object.ts";
import { buildStatus, describeProblems, type Outcome } from "./status.ts";

interface ReportDeps {
  readonly client: Pick<KubeClient, "patch">;
  readonly clock: Pick<Clock, "now">;
  readonly recorder: Pick<EventRecorder, "record">;
  readonly version: string;
  readonly architecture: string;
}

/** Writes the status if it says something new, and an event when that matters to people. */
export async function report(
  kubevirt: KubeVirt,
  outcome: Outcome,
  deps: ReportDeps,
  installation?: Installation,
): Promise<void> {
  const { version, architecture } = deps;
  const facts = { version, architecture, ...(installation === undefined ? {} : { installation }) };
  const status = buildStatus(kubevirt, outcome, facts, timestamp(deps.clock.now()));
  if (jsonEqual(status, kubevirt.status ?? {})) return;
  await writeStatus(deps.client, kubevirt, status);
  announce(kubevirt, outcome, deps);
}

function announce(kubevirt: KubeVirt, outcome: Outcome, deps: ReportDeps): void {
  switch (outcome.state) {
    case "deployed":
      if (kubevirt.status?.phase === "Deployed") return;
      return deps.recorder.record(kubevirt, "Normal", "Deployed", `Version ${deps.version} is deployed.`);
    case "refused":
      return deps.recorder.record(kubevirt, "Warning", "ConfigurationRefused", describeProblems(outcome.problems));
    case "failed":
      return deps.recorder.record(kubevirt, "Warning", "DeploymentFailed", outcome.message);
    case "uninstall-blocked":
      return deps.recorder.record(kubevirt, "Warning", "UninstallBlocked", outcome.message);
    case "deploying":
    case "deleting":
      return;
    default:
      throw new TypeError(`not an outcome: ${JSON.stringify(outcome satisfies never)}`);
  }
}

/** Kubernetes counts conditions in whole seconds. */
function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
