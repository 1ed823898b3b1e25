import { describe, expect, it } from "vitest";
import answers from "../../testdata/policy-answers.json" with { type: "json" };
import { compileCrdRules } from "../kube/crd-rules.ts";
import { sizesOf } from "../kube/rule-costs.ts";
import { SchemaTypes } from "../kube/schema-type.ts";
import { compileValidatingPolicy } from "../kube/validating-policy.ts";
import { readRule, ruleEnvironments } from "../kube/validation-rule.ts";
import { policyQuestions, ruleQuestions, type PolicyQuestion, type RuleQuestion } from "./policy-questions.ts";

/** Texts that differ for a reason: names of types that Kubernetes makes up anew each time, and the words of the parser. */
function comparable(text: string): string {
  const renamed = text.replaceAll(/selfType\d+/g, "selfType").replaceAll("\t", " ");
  return renamed.replace(/Syntax error: .*/, "Syntax error");
}

function ruleVerdict({ schema, object, oldObject }: RuleQuestion): unknown {
  const rules = compileCrdRules(schema);
  // Kubernetes judges the cost of rules elsewhere, when the CRD is written.
  const problems = rules.problems.filter(({ reason }) => reason === "FieldValueInvalid");
  if (problems.length > 0) return { problems: problems.map(({ detail }) => comparable(detail)) };
  const { errors, warnings } = rules.validate(object, oldObject);
  return {
    errors: errors.map(({ field, message }) => comparable(`${field}: ${message}`)).toSorted(),
    warnings: warnings.toSorted(),
  };
}

interface RuleAnswer {
  readonly problems?: readonly string[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly costs: readonly number[];
}

function expectedRuleVerdict({ problems, errors, warnings }: RuleAnswer): unknown {
  return problems === undefined ? { errors: errors.map(comparable), warnings } : { problems: problems.map(comparable) };
}

/** Kubernetes' integers are full, or a tenth of that, where ours are infinite; large ones are exact there and not here. */
function rounded(cost: number): number {
  return cost > 1.8e18 ? Number.POSITIVE_INFINITY : Number(cost.toPrecision(12));
}

/** What the rules at the root of a schema can cost at worst. */
function worstCosts({ schema }: RuleQuestion): number[] {
  const types = new SchemaTypes();
  const root = types.add(schema, "selfType", true);
  if (root === undefined) return [];
  const rules = (schema["x-kubernetes-validations"] ?? []).map(readRule);
  return rules.map((rule) => {
    const program = ruleEnvironments(root.type, types)(rule).compile(rule.rule);
    return program.estimateCost(sizesOf(root)).max;
  });
}

const thing = { group: "example.com", version: "v1" };
const request = {
  kind: { ...thing, kind: "Thing" },
  resource: { ...thing, resource: "things" },
  requestKind: { ...thing, kind: "Thing" },
  requestResource: { ...thing, resource: "things" },
  name: "thing",
  namespace: "default",
  userInfo: { username: "ann", groups: ["dev"] },
  dryRun: false,
};

function policyVerdict({ policy, ...input }: PolicyQuestion): unknown {
  const operation = input.oldObject === undefined ? "CREATE" : "UPDATE";
  const result = compileValidatingPolicy(policy).evaluate({ ...input, request: { ...request, operation } });
  const decisions = result.decisions.map(({ action, failed, message, reason }) => ({
    action: action.toLowerCase(),
    evaluation: failed ? "error" : action === "Deny" ? "deny" : "admit",
    message: comparable(message),
    reason: failed ? "" : reason,
  }));
  return { decisions, annotations: result.auditAnnotations };
}

interface PolicyAnswer {
  readonly decisions: readonly { action: string; evaluation: string; message: string; reason: string }[];
  readonly annotations: readonly { key: string; action: string; value: string; error: string }[];
}

function expectedPolicyVerdict({ decisions, annotations }: PolicyAnswer): unknown {
  const failed = annotations.filter(({ action }) => action === "error");
  return {
    decisions: [
      ...decisions.map((decision) => ({ ...decision, message: comparable(decision.message) })),
      // An annotation that cannot be made is a denial in the end.
      ...failed.map(({ error }) => ({ action: "deny", evaluation: "error", message: comparable(error), reason: "" })),
    ],
    annotations: annotations.filter(({ action }) => action === "publish").map(({ key, value }) => ({ key, value })),
  };
}

describe("agreement with Kubernetes on rules and policies", { timeout: 60_000 }, () => {
  it("judges objects by the rules of CRDs alike", () => {
    // The literal types of the file are too wide to be of use.
    const expected = (answers.rules as readonly RuleAnswer[]).map(expectedRuleVerdict);
    expect(ruleQuestions.map(ruleVerdict)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(300);
  });

  it("estimates the cost of rules alike", () => {
    const asked = ruleQuestions.flatMap((question, index) => {
      const answer = (answers.rules as readonly RuleAnswer[])[index];
      return answer === undefined || answer.problems !== undefined ? [] : [{ question, costs: answer.costs }];
    });
    const kubernetes = asked.map(({ costs }) => costs.map(rounded));
    expect(asked.map(({ question }) => worstCosts(question).map(rounded))).toEqual(kubernetes);
  });

  it("decides by ValidatingAdmissionPolicies alike", () => {
    const expected = (answers.policies as readonly PolicyAnswer[]).map(expectedPolicyVerdict);
    expect(policyQuestions.map(policyVerdict)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(200);
  });
});
