import { jsonEqual } from "@polyvirt/core";
import { defaultCostLimit } from "../program.ts";
import { Optional, type Value } from "../values.ts";
import { correlateItems } from "./correlation.ts";
import { fieldError, type FieldError } from "./field-error.ts";
import { FieldPath } from "./field-path.ts";
import { normalizeFieldPath } from "./rule-field-path.ts";
import { RuleCosts } from "./rule-costs.ts";
import { expressionProblems, textProblems, type CrdRuleProblem } from "./rule-problems.ts";
import { SchemaTypes, type SchemaNode } from "./schema-type.ts";
import { schemaAdapter, type SchemaAdapter } from "./schema-value.ts";
import { valuesSchema, withObjectMeta, type StructuralSchema } from "./structural-schema.ts";
import {
  compileRule,
  defaultMessage,
  evaluateMessage,
  readRule,
  ruleEnvironments,
  ruleName,
  type CompiledRule,
} from "./validation-rule.ts";

/** What Kubernetes lets all rules of one object cost together. */
const objectCostBudget = 10_000_000;

export interface CrdRuleResult {
  readonly errors: readonly FieldError[];
  /** Errors in what an update left unchanged: an old object may stay wrong, but its author is told. */
  readonly warnings: readonly string[];
  readonly cost: number;
}

/** The `x-kubernetes-validations` of a schema, compiled once. */
export interface CrdRules {
  /** Rules that do not compile; a CRD with any is refused. */
  readonly problems: readonly CrdRuleProblem[];
  /** Runs all rules; with the old object also those about the change. */
  validate(object: unknown, oldObject?: unknown): CrdRuleResult;
}

/** Compiles the rules of a CRD's schema. An object without rules costs nothing to validate. */
export function compileCrdRules(schema: StructuralSchema): CrdRules {
  const problems: CrdRuleProblem[] = [];
  const types = new SchemaTypes();
  const node = types.add(schema, "selfType", true);
  const compiler = new RuleCompiler(types, problems);
  const root =
    node === undefined ? undefined : compiler.compile(schema, schema, node, { isRoot: true, path: [], cardinality: 1 });
  problems.push(...compiler.costs.totalProblems());
  return {
    problems,
    validate(object, oldObject) {
      const run = new RuleRun();
      root?.validate(run, FieldPath.root, object, oldObject, { old: oldObject, current: object, known: true });
      return { errors: run.errors, warnings: run.warnings, cost: objectCostBudget - run.budget };
    },
  };
}

/** What one validation has found and may still spend. */
class RuleRun {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  budget = objectCostBudget;
  stopped = false;
}

/** Whether what is being looked at is the same as before; an unchanged value may stay wrong. */
interface Ratchet {
  readonly current: unknown;
  readonly old: unknown;
  /** False below what cannot be followed from old to new; `current` and `old` are then those of the last that could. */
  readonly known: boolean;
}

class RuleNode {
  readonly #schema: StructuralSchema;
  readonly #rules: readonly CompiledRule[];
  readonly #adapt: SchemaAdapter | undefined;
  readonly properties = new Map<string, RuleNode>();
  readonly allOf: RuleNode[] = [];
  items: RuleNode | undefined;
  values: RuleNode | undefined;

  constructor(schema: StructuralSchema, rules: readonly CompiledRule[], isRoot: boolean) {
    this.#schema = schema;
    this.#rules = rules;
    this.#adapt = schemaAdapter(isRoot ? withObjectMeta(schema) : schema);
  }

  get isEmpty(): boolean {
    const children = this.properties.size + this.allOf.length;
    return this.#rules.length + children === 0 && this.items === undefined && this.values === undefined;
  }

  validate(run: RuleRun, path: FieldPath, value: unknown, old: unknown, ratchet: Ratchet): void {
    if (value === undefined || value === null || run.stopped) return;
    this.#evaluateRules(run, path, value, old ?? undefined, ratchet);
    for (const part of this.allOf) part.validate(run, path, value, old, { ...ratchet, known: false });
    if (run.stopped) return;
    if (Array.isArray(value)) this.#validateItems(run, path, value, old, ratchet);
    else if (typeof value === "object") this.#validateProperties(run, path, value, old, ratchet);
  }

  #validateItems(run: RuleRun, path: FieldPath, items: readonly unknown[], old: unknown, ratchet: Ratchet): void {
    if (this.items === undefined) return;
    const oldItemOf = correlateItems(this.#schema, old);
    const ratchetItemOf = correlateItems(this.#schema, ratchet.known ? ratchet.old : undefined);
    items.forEach((item, index) => {
      const oldItem = ratchetItemOf(item);
      const inner: Ratchet =
        oldItem === undefined ? { ...ratchet, known: false } : { current: item, old: oldItem, known: true };
      this.items?.validate(run, path.index(index), item, oldItemOf(item), inner);
    });
  }

  #validateProperties(run: RuleRun, path: FieldPath, value: object, old: unknown, ratchet: Ratchet): void {
    for (const [name, item] of Object.entries(value)) {
      const property = this.properties.get(name);
      const node = property ?? this.values;
      if (node === undefined) continue;
      const inner: Ratchet = ratchet.known
        ? { current: item, old: own(ratchet.old, name), known: own(ratchet.old, name) !== undefined }
        : ratchet;
      const place = property === undefined ? path.key(name) : path.child(name);
      node.validate(run, place, item, own(old, name), inner);
    }
  }

  #evaluateRules(run: RuleRun, path: FieldPath, value: unknown, old: unknown, ratchet: Ratchet): void {
    if (this.#rules.length === 0) return;
    const type = this.#schema.type ?? "";
    if (run.budget <= 0) {
      const detail = "validation failed due to running out of cost budget, no further validation rules will be run";
      run.errors.push(fieldError(String(path), detail, { value: type }));
      run.stopped = true;
      return;
    }
    const self = this.#adapt?.(value) ?? value;
    const oldSelf = old === undefined ? undefined : (this.#adapt?.(old) ?? old);
    for (const compiled of this.#rules) {
      if (run.stopped) return;
      this.#evaluateRule(run, path, compiled, { self, oldSelf }, { value, ratchet });
    }
  }

  #evaluateRule(
    run: RuleRun,
    path: FieldPath,
    compiled: CompiledRule,
    { self, oldSelf }: { self: unknown; oldSelf: unknown },
    { value, ratchet }: { value: unknown; ratchet: Ratchet },
  ): void {
    const { rule, program } = compiled;
    const type = this.#schema.type ?? "";
    const report = (detail: string): void => {
      run.errors.push(fieldError(String(path), detail, { value: type }));
    };
    if (compiled.problem !== undefined) return report(`rule compile error: ${compiled.problem}`);
    const optional = rule.optionalOldSelf === true;
    // A rule about a change needs both sides of it, unless it says that it can do without.
    if (program === undefined || (compiled.usesOldSelf && oldSelf === undefined && !optional)) return;
    const bindings = { self, oldSelf: optional ? optionalOf(oldSelf) : oldSelf };
    const result = program.run(bindings, { costLimit: defaultCostLimit });
    run.budget -= result.cost;
    if (run.budget < 0) {
      run.stopped = true;
      return report("validation failed due to running out of cost budget, no further validation rules will be run");
    }
    if (!result.ok) return this.#reportFailure(run, report, compiled, result.failure);
    if (result.value === true) return;
    const place =
      rule.fieldPath === undefined ? path : path.child(normalizeFieldPath(rule.fieldPath, this.#schema) ?? "");
    const message = this.#messageOf(run, compiled, bindings, String(place));
    if (message === undefined) return;
    const shown = type === "object" || type === "array" ? undefined : value;
    const error = fieldError(String(place), message, { reason: rule.reason, value: shown });
    const unchanged = !compiled.usesOldSelf && ratchet.old !== undefined && jsonEqual(ratchet.current, ratchet.old);
    if (unchanged) run.warnings.push(`${error.field}: ${error.message}`);
    else run.errors.push(error);
  }

  #reportFailure(
    run: RuleRun,
    report: (detail: string) => void,
    { rule }: CompiledRule,
    failure: { readonly kind: "cost" | "error"; readonly message: string },
  ): void {
    const name = ruleName(rule);
    if (failure.kind === "cost") {
      run.stopped = true;
      report(
        `'${failure.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`,
      );
    } else if (failure.message.startsWith("no such overload")) {
      report(
        `'${failure.message}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`,
      );
    } else {
      report(`${failure.message} evaluating rule: ${name}`);
    }
  }

  /** The message of a failed rule; undefined when the budget ran out over it, which was then reported. */
  #messageOf(
    run: RuleRun,
    { rule, messageProgram }: CompiledRule,
    bindings: Readonly<Record<string, unknown>>,
    field: string,
  ): string | undefined {
    if (messageProgram === undefined) return defaultMessage(rule);
    const result = evaluateMessage(messageProgram, bindings, run.budget);
    run.budget -= result.cost;
    if (result.ok) return result.message;
    if (!result.stop) return defaultMessage(rule);
    run.stopped = true;
    run.errors.push(fieldError(field, result.problem, { value: this.#schema.type ?? "" }));
    return undefined;
  }
}

function optionalOf(value: unknown): Value {
  // Adapted or plain JSON data, like every other input.
  return value === undefined ? Optional.none : new Optional(value as Value);
}

function own(object: unknown, name: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Readonly<Record<string, unknown>>)[name];
}

interface Place {
  readonly isRoot: boolean;
  readonly path: readonly string[];
  /** How often the value can occur in one object; undefined when nothing bounds it. */
  readonly cardinality: number | undefined;
  /** The list around it whose old elements cannot be told apart, if there is one. */
  readonly uncorrelated?: string | undefined;
}

class RuleCompiler {
  readonly costs = new RuleCosts();
  readonly #types: SchemaTypes;
  readonly #problems: CrdRuleProblem[];

  constructor(types: SchemaTypes, problems: CrdRuleProblem[]) {
    this.#types = types;
    this.#problems = problems;
  }

  /**
   * Rules come from one schema and types from another: inside `allOf` only rules are written, about the values that the
   * schema around it describes.
   */
  compile(
    ruleSchema: StructuralSchema,
    schema: StructuralSchema,
    node: SchemaNode,
    place: Place,
  ): RuleNode | undefined {
    const { isRoot, path, cardinality, uncorrelated } = place;
    const compiled = new RuleNode(schema, this.#compileRules(ruleSchema, node, place), isRoot);
    this.#compileItems(compiled, ruleSchema, schema, node, place);
    for (const [name, property] of Object.entries(ruleSchema.properties ?? {})) {
      const base = schema.properties?.[name];
      const field = [...node.fields.values()].find((candidate) => candidate.property === name);
      if (base === undefined || field === undefined) continue;
      const inner = this.compile(property, base, field.node, {
        isRoot: base["x-kubernetes-embedded-resource"] === true,
        path: [...path, `properties[${name}]`],
        cardinality,
        uncorrelated,
      });
      if (inner !== undefined) compiled.properties.set(name, inner);
    }
    (ruleSchema.allOf ?? []).forEach((part, index) => {
      const inner = this.compile(part, schema, node, {
        ...place,
        path: [...path, `allOf[${index}]`],
      });
      if (inner !== undefined) compiled.allOf.push(inner);
    });
    return compiled.isEmpty ? undefined : compiled;
  }

  #compileItems(
    compiled: RuleNode,
    ruleSchema: StructuralSchema,
    schema: StructuralSchema,
    node: SchemaNode,
    { path, cardinality: outer, uncorrelated }: Place,
  ): void {
    const { element } = node;
    if (element === undefined) return;
    const most = schema.type === "array" ? schema.maxItems : schema.maxProperties;
    const cardinality = outer === undefined || most === undefined ? undefined : outer * Math.max(0, most);
    const isRoot = (inner: StructuralSchema): boolean => inner["x-kubernetes-embedded-resource"] === true;
    if (ruleSchema.items !== undefined && schema.items !== undefined) {
      compiled.items = this.compile(ruleSchema.items, schema.items, element, {
        isRoot: isRoot(schema.items),
        path: [...path, "items"],
        cardinality,
        uncorrelated: uncorrelated ?? (schema["x-kubernetes-list-type"] === "map" ? undefined : path.join(".")),
      });
    }
    const [ruleValues, values] = [valuesSchema(ruleSchema), valuesSchema(schema)];
    if (ruleValues !== undefined && values !== undefined) {
      compiled.values = this.compile(ruleValues, values, element, {
        isRoot: isRoot(values),
        path: [...path, "additionalProperties"],
        cardinality,
        uncorrelated,
      });
    }
  }

  #compileRules(schema: StructuralSchema, node: SchemaNode, place: Place): CompiledRule[] {
    const { path } = place;
    const entries = schema["x-kubernetes-validations"] ?? [];
    if (entries.length === 0) return [];
    const environmentOf = ruleEnvironments(node.type, this.#types);
    return entries.map((entry, index) => {
      const rule = readRule(entry);
      const compiled = compileRule(rule, environmentOf(rule));
      const at = [...path, `x-kubernetes-validations[${index}]`].join(".");
      this.#problems.push(...textProblems(rule, schema, at), ...expressionProblems(compiled, at, place.uncorrelated));
      this.#problems.push(...this.costs.observe(compiled, node, place.cardinality, at));
      return compiled;
    });
  }
}
