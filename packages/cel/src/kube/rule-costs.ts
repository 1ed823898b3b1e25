import type { Bounds } from "../estimate/bounds.ts";
import type { SizeAt } from "../estimate/estimate.ts";
import { maxCardinality, type SchemaNode } from "./schema-type.ts";
import { crdRuleProblem, type CrdRuleProblem } from "./rule-problems.ts";
import type { CompiledRule } from "./validation-rule.ts";

/** What Kubernetes lets one rule cost at worst, in all places of an object where it runs, and all rules of a CRD together. */
const ruleLimit = 10_000_000;
const totalLimit = 100_000_000;

/** Adds up what the rules of a CRD can cost at worst. */
export class RuleCosts {
  #total = 0;
  readonly #expensive: { readonly schemaPath: string; readonly cost: number }[] = [];

  observe(
    compiled: CompiledRule,
    node: SchemaNode,
    cardinality: number | undefined,
    schemaPath: string,
  ): CrdRuleProblem[] {
    const { program, messageProgram } = compiled;
    if (program === undefined) return [];
    const sizeAt = sizesOf(node);
    const worst = program.estimateCost(sizeAt).max;
    const rule = worst === 0 ? 0 : worst * (cardinality ?? maxCardinality(node.minSize));
    const message = messageProgram?.estimateCost(sizeAt).max ?? 0;
    return [
      ...this.#check(`${schemaPath}.rule`, "estimated rule cost", rule),
      ...this.#check(`${schemaPath}.messageExpression`, "estimated messageExpression cost", message),
    ];
  }

  #check(schemaPath: string, name: string, cost: number): CrdRuleProblem[] {
    this.#total += cost;
    if (cost >= totalLimit / 100) this.#expensive.push({ schemaPath, cost });
    return cost > ruleLimit ? [problem(schemaPath, describeExcess(name, cost, ruleLimit))] : [];
  }

  /** After all rules: whether they are too expensive together, and which of them most. */
  totalProblems(): CrdRuleProblem[] {
    if (this.#total <= totalLimit) return [];
    const worst = this.#expensive.toSorted((a, b) => b.cost - a.cost).slice(0, 4);
    const contributes = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    return [
      ...worst.map(({ schemaPath }) => problem(schemaPath, contributes)),
      problem(
        "",
        describeExcess(
          "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
          this.#total,
          totalLimit,
        ),
      ),
    ];
  }
}

const problem = (schemaPath: string, detail: string): CrdRuleProblem =>
  crdRuleProblem(schemaPath, "FieldValueForbidden", detail);

function describeExcess(name: string, cost: number, limit: number): string {
  const ratio = cost / limit;
  const factor = ratio > 100 ? "more than 100x" : ratio < 1.5 ? `${ratio.toFixed(6)}x` : `${ratio.toFixed(1)}x`;
  const advice =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${name} exceeds budget by factor of ${factor} (${advice})`;
}

/** Sizes below `self`, from the schema. */
export function sizesOf(root: SchemaNode): SizeAt {
  return (path): Bounds | undefined => {
    if (path.length === 0) return undefined;
    let node: SchemaNode | undefined = root;
    for (const step of path.slice(1)) {
      if (step === "@keys") return node?.element === undefined ? undefined : { min: 0, max: 0 };
      node = step === "@items" || step === "@values" ? node?.element : node?.fields.get(step)?.node;
      if (node === undefined) return undefined;
    }
    return { min: 0, max: node.maxElements };
  };
}
