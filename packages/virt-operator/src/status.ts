import { createHash } from "node:crypto";
import {
  conditionTypes,
  withCondition,
  type GenerationStatus,
  type KubeVirt,
  type KubeVirtStatus,
} from "@polyvirt/api";
import type { Condition } from "@polyvirt/api/k8s";
import type { ConfigurationProblem } from "@polyvirt/hypervisor";
import type { Installation } from "./installation.ts";

/** How a reconcile ended. */
export type Outcome =
  | {
      readonly state: "deploying";
      readonly waitingFor: readonly string[];
      readonly notes: readonly ConfigurationProblem[];
    }
  | {
      readonly state: "deployed";
      readonly generations: GenerationStatus[];
      readonly notes: readonly ConfigurationProblem[];
    }
  | { readonly state: "refused"; readonly problems: readonly ConfigurationProblem[] }
  | { readonly state: "failed"; readonly message: string }
  | { readonly state: "deleting"; readonly message: string }
  | { readonly state: "uninstall-blocked"; readonly message: string };

interface OperatorFacts {
  readonly version: string;
  readonly architecture: string;
}

type ConditionRow = readonly [type: string, status: Condition["status"], reason: string, message: string];

/** The status that tells the outcome. Equal outcomes give equal statuses, so that nothing is written twice. */
export function buildStatus(
  kubevirt: KubeVirt,
  outcome: Outcome,
  operator: OperatorFacts & { readonly installation?: Installation },
  at: string,
): KubeVirtStatus {
  const previous = kubevirt.status ?? {};
  let conditions = previous.conditions ?? [];
  for (const [type, status, reason, message] of conditionRows(outcome, previous)) {
    conditions = withCondition(conditions, { type, status, reason, message }, at);
  }
  const phase = phaseOf(outcome, previous);
  return {
    ...previous,
    ...(phase === undefined ? {} : { phase }),
    operatorVersion: operator.version,
    defaultArchitecture: operator.architecture,
    observedGeneration: kubevirt.metadata.generation ?? 0,
    ...(operator.installation === undefined ? {} : versionsOf(outcome, operator.installation)),
    ...(outcome.state === "deployed" ? { generations: outcome.generations } : {}),
    conditions,
  };
}

function phaseOf(outcome: Outcome, previous: KubeVirtStatus): KubeVirtStatus["phase"] {
  switch (outcome.state) {
    case "deployed":
      return "Deployed";
    case "deploying":
      return "Deploying";
    case "deleting":
      return "Deleting";
    case "refused":
    case "failed":
    case "uninstall-blocked":
      return previous.phase;
    default:
      throw new TypeError(`not an outcome: ${JSON.stringify(outcome satisfies never)}`);
  }
}

function conditionRows(outcome: Outcome, previous: KubeVirtStatus): ConditionRow[] {
  const { available, progressing, degraded, created } = conditionTypes;
  switch (outcome.state) {
    case "deployed":
      return [
        [created, "True", "AllObjectsCreated", "Every object of the installation exists."],
        [available, "True", "AllComponentsReady", "Every role is ready."],
        [progressing, "False", "AllComponentsReady", "Every role is ready."],
        degradedRow(outcome.notes),
      ];
    case "deploying": {
      const message = `Waiting for ${outcome.waitingFor.join("; ")}.`;
      return [
        [available, previous.phase === "Deployed" ? "True" : "False", "DeploymentInProgress", message],
        [progressing, "True", "DeploymentInProgress", message],
        degradedRow(outcome.notes),
      ];
    }
    case "refused":
      return [
        [progressing, "False", "ConfigurationRefused", "Nothing is changed until the configuration is corrected."],
        [degraded, "True", "ConfigurationRefused", describeProblems(outcome.problems)],
      ];
    case "failed":
      return [
        [progressing, "False", "DeploymentFailed", "The last attempt failed; Degraded says why."],
        [degraded, "True", "DeploymentFailed", outcome.message],
      ];
    case "deleting":
      return [
        [available, "False", "DeletionInProgress", outcome.message],
        [progressing, "True", "DeletionInProgress", outcome.message],
      ];
    case "uninstall-blocked":
      return [
        [progressing, "False", "UninstallBlocked", outcome.message],
        [degraded, "True", "UninstallBlocked", outcome.message],
      ];
    default:
      throw new TypeError(`not an outcome: ${JSON.stringify(outcome satisfies never)}`);
  }
}

function degradedRow(notes: readonly ConfigurationProblem[]): ConditionRow {
  return notes.length === 0
    ? [conditionTypes.degraded, "False", "AllAsConfigured", "The configuration is carried out as it stands."]
    : [conditionTypes.degraded, "True", "ConfigurationIgnored", describeProblems(notes)];
}

export function describeProblems(problems: readonly ConfigurationProblem[]): string {
  return problems.map(({ field, message }) => `${field} ${message}`).join("; ");
}

function versionsOf(outcome: Outcome, installation: Installation): Partial<KubeVirtStatus> {
  const id = createHash("sha256").update(JSON.stringify(installation)).digest("hex").slice(0, 40);
  const target = {
    targetKubeVirtVersion: installation.version,
    targetKubeVirtRegistry: installation.registry,
    targetDeploymentID: id,
  };
  if (outcome.state !== "deployed") return target;
  return {
    ...target,
    observedKubeVirtVersion: installation.version,
    observedKubeVirtRegistry: installation.registry,
    observedDeploymentID: id,
  };
}
