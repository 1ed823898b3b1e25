import { prices, sizeOf } from "../../cost-rules.ts";
import { args, declare, member, type CallCost, type FunctionDeclaration } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { BOOL, STRING, opaque, type Type } from "../../types.ts";
import { CelError, CelObject, type Value } from "../../values.ts";

export interface User {
  readonly name: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What is asked of an authorizer: a path, or a verb on a resource. */
export type AuthorizationQuestion =
  | { readonly user: User; readonly verb: string; readonly path: string }
  | ({ readonly user: User; readonly verb: string } & ResourceAttributes);

export interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface AuthorizationDecision {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** Decides at once: expressions cannot wait. */
export interface Authorizer {
  authorize(question: AuthorizationQuestion): AuthorizationDecision;
}

const AUTHORIZER: Type = opaque("kubernetes.authorization.Authorizer");
const PATH_CHECK: Type = opaque("kubernetes.authorization.PathCheck");
const GROUP_CHECK: Type = opaque("kubernetes.authorization.GroupCheck");
const RESOURCE_CHECK: Type = opaque("kubernetes.authorization.ResourceCheck");
const DECISION: Type = opaque("kubernetes.authorization.Decision");

/** The variable `authorizer`: an authorizer and the user whose rights are asked for. */
export class AuthorizerValue extends CelObject {
  readonly authorizer: Authorizer;
  readonly user: User;

  constructor(authorizer: Authorizer, user: User) {
    super();
    this.authorizer = authorizer;
    this.user = user;
  }

  get typeName(): string {
    return "kubernetes.authorization.Authorizer";
  }
}

class PathCheck extends CelObject {
  readonly by: AuthorizerValue;
  readonly path: string;

  constructor(by: AuthorizerValue, path: string) {
    super();
    this.by = by;
    this.path = path;
  }

  get typeName(): string {
    return "kubernetes.authorization.PathCheck";
  }
}

class GroupCheck extends CelObject {
  readonly by: AuthorizerValue;
  readonly group: string;

  constructor(by: AuthorizerValue, group: string) {
    super();
    this.by = by;
    this.group = group;
  }

  get typeName(): string {
    return "kubernetes.authorization.GroupCheck";
  }
}

/** The variable `authorizer.requestResource`, and what `authorizer.group(…).resource(…)` makes. */
export class ResourceCheck extends CelObject {
  readonly by: AuthorizerValue;
  readonly attributes: ResourceAttributes;

  constructor(by: AuthorizerValue, attributes: ResourceAttributes) {
    super();
    this.by = by;
    this.attributes = attributes;
  }

  get typeName(): string {
    return "kubernetes.authorization.ResourceCheck";
  }

  with(change: Partial<ResourceAttributes>): ResourceCheck {
    return new ResourceCheck(this.by, { ...this.attributes, ...change });
  }
}

class DecisionValue extends CelObject {
  readonly decision: AuthorizationDecision;

  constructor(decision: AuthorizationDecision) {
    super();
    this.decision = decision;
  }

  get typeName(): string {
    return "kubernetes.authorization.Decision";
  }
}

const anyAuthorizer = args.object(AUTHORIZER, AuthorizerValue);
const pathCheck = args.object(PATH_CHECK, PathCheck);
const groupCheck = args.object(GROUP_CHECK, GroupCheck);
const resourceCheck = args.object(RESOURCE_CHECK, ResourceCheck);
const decision = args.object(DECISION, DecisionValue);

const isDnsLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text);
const isDnsSubdomain = (text: string): boolean => text.length <= 253 && text.split(".").every(isDnsLabel);

function asServiceAccount(by: AuthorizerValue, namespace: string, name: string): Value {
  if (!isDnsSubdomain(name)) return new CelError("Invalid service account name");
  if (!isDnsLabel(namespace)) return new CelError("Invalid service account namespace");
  return new AuthorizerValue(by.authorizer, {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  });
}

/** A check may ask far away, so that an expression can afford two of them. */
const checkCost: CallCost = () => 350_000;
/** A selector is parsed into requirements, one for each two characters at worst. */
const selectorCost: CallCost = ([, selector = ""]) => {
  const length = sizeOf(selector);
  const requirements = Math.ceil(length * 0.5) * (prices.list + prices.struct);
  return prices.list + Math.ceil(length * prices.character) + requirements;
};

const narrow = (name: "subresource" | "namespace" | "name"): FunctionDeclaration =>
  declare(name, [
    member(`resourcecheck_${name}`, [resourceCheck, args.string], RESOURCE_CHECK, (check, value) =>
      check.with({ [name]: value }),
    ),
  ]);

const select = (name: "fieldSelector" | "labelSelector"): FunctionDeclaration =>
  declare(
    name,
    [
      member(`authorizer_${name.toLowerCase()}`, [resourceCheck, args.string], RESOURCE_CHECK, (check, value) =>
        check.with({ [name]: value }),
      ),
    ],
    { cost: selectorCost },
  );

const functions: readonly FunctionDeclaration[] = [
  declare("path", [
    member("authorizer_path", [anyAuthorizer, args.string], PATH_CHECK, (by, path) =>
      path === "" ? new CelError("path must not be empty") : new PathCheck(by, path),
    ),
  ]),
  declare("group", [
    member("authorizer_group", [anyAuthorizer, args.string], GROUP_CHECK, (by, group) => new GroupCheck(by, group)),
  ]),
  declare("serviceAccount", [
    member("authorizer_serviceaccount", [anyAuthorizer, args.string, args.string], AUTHORIZER, asServiceAccount),
  ]),
  declare("resource", [
    member("groupcheck_resource", [groupCheck, args.string], RESOURCE_CHECK, ({ by, group }, resource) =>
      resource === ""
        ? new CelError("resource must not be empty")
        : new ResourceCheck(by, { group, resource, subresource: "", namespace: "", name: "" }),
    ),
  ]),
  narrow("subresource"),
  narrow("namespace"),
  narrow("name"),
  select("fieldSelector"),
  select("labelSelector"),
  declare(
    "check",
    [
      member("pathcheck_check", [pathCheck, args.string], DECISION, ({ by, path }, verb) => {
        const answer = by.authorizer.authorize({ user: by.user, verb, path });
        return new DecisionValue(answer);
      }),
      member("resourcecheck_check", [resourceCheck, args.string], DECISION, ({ by, attributes }, verb) => {
        const answer = by.authorizer.authorize({ user: by.user, verb, ...attributes });
        return new DecisionValue(answer);
      }),
    ],
    { cost: checkCost },
  ),
  declare("errored", [member("decision_errored", [decision], BOOL, ({ decision: { error } }) => error !== undefined)]),
  declare("error", [member("decision_error", [decision], STRING, ({ decision: { error } }) => error ?? "")]),
  declare("allowed", [member("decision_allowed", [decision], BOOL, ({ decision: { allowed } }) => allowed)]),
  declare("reason", [member("decision_reason", [decision], STRING, ({ decision: { reason } }) => reason ?? "")]),
];

/** The types of the two variables that an authorizer makes available. */
export const authorizerVariables: Readonly<Record<string, Type>> = {
  authorizer: AUTHORIZER,
  "authorizer.requestResource": RESOURCE_CHECK,
};

export const authorizerLibrary: Library = { name: "kubernetes.authorizer", functions };
