import { formatPointer } from "@polyvirt/core";
import { errors } from "../errors.ts";
import type { Domain } from "../gen/domain.ts";
import { Derivatives } from "../grammar/derivative.ts";
import { Grammar, startOf } from "../grammar/grammar.ts";
import type { Pattern } from "../grammar/pattern.ts";
import { domainElement, elementModel, type ElementModel, type PropertyModel } from "../model/element-model.ts";
import { describe, maxPathLength, partsOf, scalarText, type ElementParts } from "../model/element-parts.ts";
import type { XmlElement } from "../xml/xml-element.ts";
import { allowedTexts, describeText, missing } from "./expectation.ts";

/** One thing in a domain that libvirt's schema does not allow. */
export interface DomainProblem {
  /** JSON pointer into the model: `/devices/disks/0/target/bus`. */
  readonly path: string;
  /** What is wrong there and what would be right, to follow the path in a sentence. */
  readonly problem: string;
  /** Values or properties that are allowed at the path, where they can be listed. */
  readonly allowed: readonly string[];
}

export interface ValidateOptions {
  /** Version of the libvirt that shall accept the domain (`9.0.0`); the newest that is known when left out. */
  readonly libvirt?: string;
  /** Where to stop; default 100. */
  readonly maxProblems?: number;
}

/** Derivatives kept at most; far more than ordinary domains lead to, and a bound for long-lived processes. */
const maxDerivatives = 20_000;

let shared: { grammar: Grammar; derivatives: Derivatives } | undefined;

/**
 * Judges a domain by libvirt's schema. The model may come from anywhere: values of the wrong shape are problems too.
 * Returns what is wrong, in the order of the document; an empty list means that libvirt's schema accepts what
 * `writeDomain` makes of the model.
 */
export function validateDomain(domain: Domain, options: ValidateOptions = {}): DomainProblem[] {
  if (shared === undefined || shared.derivatives.size > maxDerivatives) {
    const grammar = new Grammar();
    shared = { grammar, derivatives: new Derivatives(grammar) };
  }
  const validator = new Validator(shared.grammar, shared.derivatives, options.maxProblems ?? 100);
  const root = shared.grammar.pool.element(startOf(options.libvirt));
  validator.element(domain, elementModel(domainElement), [root]);
  return validator.problems;
}

/** Throws `DomainInvalid` with every problem when the domain does not follow libvirt's schema. */
export function assertValidDomain(domain: Domain, options?: ValidateOptions): void {
  const problems = validateDomain(domain, options);
  if (problems.length === 0) return;
  const list = problems.map(({ path, problem }) => `${path} ${problem}`);
  throw errors.DomainInvalid(`validate domain ${domain.name ?? "without name"}: ${list.join("; ")}`, {
    fields: { paths: problems.map(({ path }) => path) },
  });
}

/** An element of the grammar that the one at hand may still be, and what is left for it to match. */
interface Candidate {
  readonly element: Pattern;
  readonly rest: Pattern;
}

/**
 * Follows all elements of the grammar that the document's element may be at the same time. When the last one drops out,
 * that is the place of the problem; the check then goes on as if the offending part were not there.
 */
class Validator {
  readonly problems: DomainProblem[] = [];
  private readonly grammar: Grammar;
  private readonly derivatives: Derivatives;
  private readonly maxProblems: number;
  private readonly path: (string | number)[] = [];

  constructor(grammar: Grammar, derivatives: Derivatives, maxProblems: number) {
    this.grammar = grammar;
    this.derivatives = derivatives;
    this.maxProblems = maxProblems;
  }

  /** Returns those of the elements that match; none when a problem was found. */
  element(value: unknown, model: ElementModel, elements: readonly Pattern[]): readonly Pattern[] {
    if (this.path.length > maxPathLength) {
      this.report([], "is nested too deep");
      return [];
    }
    if (model.scalar) return this.scalar(value, elements);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.report([], `must be an object, not ${describe(value)}`);
      return [];
    }
    const before = this.problems.length;
    const parts = partsOf(value, model, (path, problem) => this.report(path, problem));
    let candidates: readonly Candidate[] = elements.map((element) => ({
      element,
      rest: this.grammar.element(element.index).content(),
    }));
    candidates = this.attributes(parts, model, candidates);
    candidates = this.closeTag(model, candidates);
    candidates = this.text(parts, candidates);
    candidates = this.children(parts, model, candidates);
    candidates = this.extraElements(parts, model, candidates);
    const matching = this.end(model, candidates);
    return this.problems.length === before ? matching : [];
  }

  private report(below: readonly (string | number)[], problem: string, allowed: readonly string[] = []): void {
    if (this.problems.length >= this.maxProblems) return;
    const path = formatPointer([...this.path, ...below]);
    this.problems.push({ path: path === "" ? "/" : path, problem, allowed });
  }

  private scalar(value: unknown, elements: readonly Pattern[]): readonly Pattern[] {
    const text = scalarText(value);
    if (text === undefined) {
      this.report([], `must be a string or an integer, not ${describe(value)}`);
      return [];
    }
    const contents = elements.map((element) => this.derivatives.close(this.grammar.element(element.index).content()));
    const matching = elements.filter((_, index) => {
      const content = contents[index];
      return content !== undefined && this.matchesWholeText(content, text);
    });
    if (matching.length === 0) this.reportText([], contents, text);
    return matching;
  }

  private matchesWholeText(content: Pattern, text: string): boolean {
    return (content.nullable && text.trim() === "") || this.derivatives.afterText(content, text).nullable;
  }

  private reportText(below: readonly (string | number)[], patterns: readonly Pattern[], text: string): void {
    const allowed = allowedTexts(patterns, this.grammar);
    this.report(below, describeText(allowed, text), allowed.values);
  }

  private attributes(parts: ElementParts, model: ElementModel, start: readonly Candidate[]): readonly Candidate[] {
    let candidates = start;
    for (const [index, property] of parts.attributes.entries()) {
      const value = parts.attributeValues[index] ?? "";
      const known = new Set<Pattern>();
      const matching = new Set<Pattern>();
      for (const { rest } of candidates) {
        for (const attribute of this.derivatives.attributes(rest).get(property.name) ?? []) {
          if (known.has(attribute)) continue;
          known.add(attribute);
          if (this.matchesValue(attribute, value)) matching.add(attribute);
        }
      }
      if (known.size === 0) {
        this.reportForbidden([property.property], this.attributeNames(model, candidates));
        continue;
      }
      if (matching.size === 0) {
        this.reportText(
          [property.property],
          [...known].flatMap((attribute) => attribute.parts),
          value,
        );
      }
      // A wrong value still says that the attribute is there.
      candidates = this.step(candidates, property, matching.size === 0 ? known : matching);
    }
    for (const [name] of parts.extras.attributes) {
      if (name !== "xmlns" && !name.startsWith("xmlns:")) {
        this.reportForbidden(["$attributes", name], this.attributeNames(model, candidates));
      }
    }
    return candidates;
  }

  private matchesValue(attribute: Pattern, text: string): boolean {
    return attribute.parts.every((pattern) => this.derivatives.matchesText(pattern, text));
  }

  private attributeNames(model: ElementModel, candidates: readonly Candidate[]): string[] {
    const names = candidates.flatMap(({ rest }) => [...this.derivatives.attributes(rest).keys()]);
    return [...new Set(names.map((name) => model.attributes.get(name)?.property ?? name))];
  }

  private elementNames(model: ElementModel, candidates: readonly Candidate[]): string[] {
    const names = candidates.flatMap(({ rest }) => [...this.derivatives.elements(rest).keys()]);
    return [...new Set(names.map((name) => model.children.get(name)?.property ?? name))];
  }

  private reportForbidden(below: readonly (string | number)[], allowed: readonly string[]): void {
    const choices =
      allowed.length === 0 ? "" : `; allowed there ${allowed.length === 1 ? "is" : "are"} ${allowed.join(", ")}`;
    this.report(below, `is not allowed here${choices}`, allowed);
  }

  /** All attributes were seen: what still asks for one drops out. */
  private closeTag(model: ElementModel, candidates: readonly Candidate[]): readonly Candidate[] {
    const { notAllowed } = this.grammar.pool;
    const closed = candidates
      .map(({ element, rest }) => ({ element, rest: this.derivatives.close(rest) }))
      .filter(({ rest }) => rest !== notAllowed);
    if (closed.length > 0) return closed;
    this.reportMissing(model, candidates, "attribute");
    return candidates.map(({ element, rest }) => ({ element, rest: this.derivatives.forgetAttributes(rest) }));
  }

  private reportMissing(model: ElementModel, candidates: readonly Candidate[], what: "attribute" | "element"): void {
    const nameOf = (leaf: Pattern) => {
      if (leaf.kind === "attribute") return model.attributes.get(leaf.name)?.property ?? leaf.name;
      const { name } = this.grammar.element(leaf.index);
      return model.children.get(name)?.property ?? name;
    };
    const needed = new Set(candidates.flatMap(({ rest }) => missing(rest, what, nameOf) ?? []));
    if (needed.size > 0) this.report([], `needs ${[...needed].join(" or ")}`, [...needed]);
    else this.reportText(["value"], restsOf(candidates), "");
  }

  private text(parts: ElementParts, candidates: readonly Candidate[]): readonly Candidate[] {
    const text = parts.text ?? "";
    const alone = parts.children.length === 0 && parts.extras.elements.length === 0;
    const blank = text.trim() === "";
    if (blank && !alone) return candidates;
    const next = candidates.flatMap(({ element, rest }) => {
      // Most are content with nothing; only a datatype asks to see the empty text.
      if (blank && rest.nullable) return [{ element, rest }];
      const after = this.derivatives.afterText(rest, text);
      const both = this.grammar.pool.choice(blank ? [rest, after] : [after]);
      return both === this.grammar.pool.notAllowed ? [] : [{ element, rest: both }];
    });
    if (next.length > 0) return next;
    this.reportText(["value"], restsOf(candidates), text);
    return candidates.map(({ element, rest }) => ({ element, rest: this.derivatives.forgetText(rest) }));
  }

  private children(parts: ElementParts, model: ElementModel, start: readonly Candidate[]): readonly Candidate[] {
    let candidates = start;
    for (const [position, property] of parts.children.entries()) {
      const value = parts.childValues[position];
      this.path.push(property.property);
      if (property.kind === "list" && Array.isArray(value)) {
        for (const [index, item] of value.entries()) {
          this.path.push(index);
          candidates = this.knownChild(property, item, model, candidates);
          this.path.pop();
        }
      } else {
        candidates = this.knownChild(property, value, model, candidates);
      }
      this.path.pop();
    }
    return candidates;
  }

  private knownChild(
    property: PropertyModel,
    value: unknown,
    model: ElementModel,
    candidates: readonly Candidate[],
  ): readonly Candidate[] {
    const possible = new Set<Pattern>();
    for (const { rest } of candidates) {
      for (const element of this.derivatives.elements(rest).get(property.name) ?? []) possible.add(element);
    }
    if (possible.size === 0) {
      this.reportForbidden([], this.elementNames(model, candidates));
      return candidates;
    }
    const matching = this.element(value, elementModel(property.element), [...possible]);
    return this.step(candidates, property, matching.length === 0 ? possible : new Set(matching));
  }

  /** Candidates for which one of the attributes or elements of this name can stand here, and what is left of them. */
  private step(
    candidates: readonly Candidate[],
    { kind, name }: { kind: PropertyModel["kind"]; name: string },
    seen: ReadonlySet<Pattern>,
  ): readonly Candidate[] {
    const next: Candidate[] = [];
    for (const { element, rest } of candidates) {
      const here = (kind === "attribute" ? this.derivatives.attributes(rest) : this.derivatives.elements(rest)).get(
        name,
      );
      if (here === undefined) continue;
      const own = here.every((one) => seen.has(one)) ? here : here.filter((one) => seen.has(one));
      if (own.length > 0) next.push({ element, rest: this.derivatives.after(rest, own) });
    }
    return next;
  }

  /**
   * Elements without a place in the model are allowed where the schema takes any element (`<metadata>`), and where they
   * are plain texts that have no place only because they declare a namespace.
   */
  private extraElements(parts: ElementParts, model: ElementModel, start: readonly Candidate[]): readonly Candidate[] {
    let candidates = start;
    for (const [index, extra] of parts.extras.elements.entries()) {
      const any = new Set(candidates.flatMap(({ rest }) => this.derivatives.elements(rest).get("*") ?? []));
      const known = model.children.get(extra.name);
      const text = plainText(extra);
      if (any.size > 0) {
        candidates = this.step(candidates, { kind: "list", name: "*" }, any);
      } else if (known !== undefined && text !== undefined && elementModel(known.element).scalar) {
        this.path.push("$elements", index);
        candidates = this.knownChild(known, text, model, candidates);
        this.path.length -= 2;
      } else {
        this.report(["$elements", index], `<${extra.name}> is not known to libvirt's schema here, or is one too many`);
      }
    }
    return candidates;
  }

  private end(model: ElementModel, candidates: readonly Candidate[]): readonly Pattern[] {
    const matching = candidates.filter(({ rest }) => rest.nullable).map(({ element }) => element);
    if (matching.length === 0) this.reportMissing(model, candidates, "element");
    return matching;
  }
}

function restsOf(candidates: readonly Candidate[]): Pattern[] {
  return candidates.map(({ rest }) => rest);
}

/** The text of an element that has nothing else but namespace declarations. */
function plainText({ attributes, children }: XmlElement): string | undefined {
  const declaresOnly = Object.keys(attributes ?? {}).every((name) => name.startsWith("xmlns:"));
  const [text = "", ...others] = children ?? [];
  return declaresOnly && others.length === 0 && typeof text === "string" ? text : undefined;
}
