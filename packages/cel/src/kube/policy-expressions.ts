import { LazyObject } from "../access.ts";
import type { Dialect } from "../dialect.ts";
import {
  AuthorizerValue,
  ResourceCheck,
  type Authorizer,
  type ResourceAttributes,
  type User,
} from "../lib/kubernetes/authorizer.ts";
import { defaultCostLimit, type Program } from "../program.ts";
import { DYN, formatType, sameType, type Type } from "../types.ts";
import { CelError, type Value } from "../values.ts";
import { policyEnvironment, type PolicyEnvironmentOptions } from "./policy-environment.ts";

/** What a policy is evaluated on. Everything is JSON as it stands in the API. */
export interface PolicyInput {
  /** Absent on deletion. */
  readonly object?: unknown;
  /** Absent on creation. */
  readonly oldObject?: unknown;
  /** The AdmissionRequest, without its objects. */
  readonly request: unknown;
  readonly params?: unknown;
  readonly namespaceObject?: unknown;
  /** Who decides about `authorizer.…`; without it such an expression fails. */
  readonly authorizer?: {
    readonly authorizer: Authorizer;
    readonly user: User;
    readonly requestResource: ResourceAttributes;
  };
}

export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

export interface CompiledExpression {
  readonly expression: string;
  readonly program: Program | undefined;
  /** Why there is no program. */
  readonly problem: string | undefined;
}

export interface PolicyCompilerOptions {
  readonly hasParams: boolean;
  readonly mutations: boolean;
  readonly dialect?: Dialect;
  readonly object?: PolicyEnvironmentOptions["object"];
}

/** Compiles the expressions of one policy; its variables are compiled in order, each seeing those before it. */
export class PolicyCompiler {
  readonly #options: PolicyCompilerOptions;
  readonly #variables = new Map<string, CompiledExpression>();
  readonly #variableTypes: Record<string, Type> = {};
  /** Without any, the name `variables` means nothing. */
  readonly #hasVariables: boolean;

  constructor(variables: readonly NamedExpression[], options: PolicyCompilerOptions) {
    this.#options = options;
    this.#hasVariables = variables.length > 0;
    for (const { name, expression } of variables) {
      const compiled = this.compile(expression, undefined, { hasAuthorizer: true });
      this.#variables.set(name, compiled);
      this.#variableTypes[name] = compiled.program?.type ?? DYN;
    }
  }

  get variables(): ReadonlyMap<string, CompiledExpression> {
    return this.#variables;
  }

  /** Compiles an expression that must have one of the given types; none given means any. */
  compile(
    expression: string,
    expected: readonly Type[] | undefined,
    scope: { readonly hasAuthorizer: boolean },
  ): CompiledExpression {
    const { hasParams, mutations, dialect, object } = this.#options;
    const environment = policyEnvironment({
      hasParams,
      mutations,
      hasAuthorizer: scope.hasAuthorizer,
      ...(this.#hasVariables ? { variables: { ...this.#variableTypes } } : {}),
      ...(dialect === undefined ? {} : { dialect }),
      ...(object === undefined ? {} : { object }),
    });
    const compiled = environment.tryCompile(expression);
    if (!compiled.ok) return { expression, program: undefined, problem: `compilation failed: ${compiled.message}` };
    const { type } = compiled.program;
    if (expected !== undefined && !expected.some((candidate) => sameType(type, candidate))) {
      const names = expected.map((candidate) => kubernetesTypeName(candidate));
      const wanted = names.length === 1 ? names[0] : `one of [${names.join(" ")}]`;
      const problem = `must evaluate to ${wanted} but got ${kubernetesTypeName(type)}`;
      return { expression, program: undefined, problem };
    }
    return { expression, program: compiled.program, problem: undefined };
  }

  /** Binds the compiled variables to one request. */
  evaluator(input: PolicyInput): PolicyEvaluator {
    return new PolicyEvaluator(input, this.#variables);
  }
}

function kubernetesTypeName(type: Type): string {
  return formatType(type).replace(/\bnull\b/, "null_type");
}

export type ExpressionResult =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "error"; readonly message: string }
  /** Nothing more may be evaluated. */
  | { readonly kind: "exhausted"; readonly message: string };

const exhausted: ExpressionResult = {
  kind: "exhausted",
  message: "validation failed due to running out of cost budget, no further validation rules will be run",
};

/** Evaluates a policy's expressions on one request. Variables are evaluated when first read, and once. */
export class PolicyEvaluator {
  readonly #bindings: Readonly<Record<string, unknown>>;
  readonly #values = new Map<string, Value>();
  readonly #variables: ReadonlyMap<string, CompiledExpression>;
  #variableCost = 0;

  constructor(input: PolicyInput, variables: ReadonlyMap<string, CompiledExpression>) {
    this.#variables = variables;
    const authorizer =
      input.authorizer === undefined
        ? undefined
        : new AuthorizerValue(input.authorizer.authorizer, input.authorizer.user);
    this.#bindings = {
      object: input.object ?? null,
      oldObject: input.oldObject ?? null,
      request: input.request,
      params: input.params ?? null,
      namespaceObject: input.namespaceObject ?? null,
      variables: new Variables((name) => this.#variable(name)),
      ...(authorizer === undefined || input.authorizer === undefined
        ? {}
        : {
            authorizer,
            "authorizer.requestResource": new ResourceCheck(authorizer, input.authorizer.requestResource),
          }),
    };
  }

  #variable(name: string): Value | undefined {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const compiled = this.#variables.get(name);
    if (compiled === undefined) return undefined;
    const value = this.#evaluateVariable(name, compiled);
    this.#values.set(name, value);
    return value;
  }

  #evaluateVariable(name: string, { program, problem }: CompiledExpression): Value {
    const quoted = JSON.stringify(name);
    if (program === undefined) return new CelError(`composited variable ${quoted} fails to compile: ${problem ?? ""}`);
    const result = program.run(this.#bindings, { costLimit: defaultCostLimit });
    this.#variableCost += result.cost;
    return result.ok
      ? result.value
      : new CelError(`composited variable ${quoted} fails to evaluate: ${result.failure.message}`);
  }

  /** Evaluates within a budget that several expressions share. */
  evaluate({ expression, program, problem }: CompiledExpression, budget: Budget): ExpressionResult {
    if (program === undefined) return { kind: "error", message: `compilation error: ${problem ?? ""}` };
    const result = program.run(this.#bindings, { costLimit: defaultCostLimit });
    const cost = result.cost + this.#variableCost;
    this.#variableCost = 0;
    if (!budget.spend(cost)) return exhausted;
    if (result.ok) return { kind: "value", value: result.value };
    return { kind: "error", message: `expression '${expression}' resulted in error: ${result.failure.message}` };
  }
}

class Variables extends LazyObject {
  readonly #read: (name: string) => Value | undefined;

  constructor(read: (name: string) => Value | undefined) {
    super();
    this.#read = read;
  }

  get typeName(): string {
    return "kubernetes.variables";
  }

  field(name: string): Value | undefined {
    return this.#read(name);
  }
}

/** What several expressions may cost together. */
export class Budget {
  #left: number;

  constructor(units: number) {
    this.#left = units;
  }

  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }
}

/** What Kubernetes allows the validations or mutations of one policy, and its match conditions. */
export const policyCostBudget = 10_000_000;
export const matchConditionsCostBudget = 2_500_000;
