import type { Declarations } from "./declarations.ts";
import type { Issue, Range } from "./source.ts";
import { nearestName } from "./text.ts";
import { ERROR, formatType, type Type } from "./types.ts";

type Place = Range & { readonly at?: number };

/** The checker's complaints, in the words of Kubernetes, with the nearest name where one was probably misspelt. */
export class CheckMessages {
  readonly issues: Issue[] = [];
  readonly #declarations: Declarations;

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  #report(place: Place, message: string, suggestion?: string): Type {
    const start = place.at ?? place.start;
    const issue = { range: { start, end: Math.max(place.end, start) }, message };
    this.issues.push(suggestion === undefined ? issue : { ...issue, suggestion });
    return ERROR;
  }

  undeclared(place: Place, name: string, locals: readonly string[]): Type {
    const suggestion = nearestName(name, [...locals, ...this.#declarations.variables.keys()]);
    return this.#report(place, `undeclared reference to '${name}' (in container '${this.#container}')`, suggestion);
  }

  undeclaredFunction(place: Place, name: string): Type {
    const suggestion = nearestName(name, this.#declarations.functions.keys());
    return this.#report(place, `undeclared reference to '${name}' (in container '${this.#container}')`, suggestion);
  }

  /** For `name{…}` where the name is that of a variable, or of a type without fields. */
  notAMessage(place: Place, type: Type): Type {
    const [text, what] = type.kind === "type" && type.of !== undefined ? [type.of, "message type"] : [type, "type"];
    return this.#report(place, `'${formatType(text)}' is not a ${what}`);
  }

  get #container(): string {
    return this.#declarations.container;
  }

  undefinedField(place: Place, typeName: string, field: string): Type {
    const suggestion = nearestName(field, this.#declarations.types.fieldNames(typeName));
    return this.#report(place, `undefined field '${field}'`, suggestion);
  }

  noFields(place: Place, type: Type): void {
    this.#report(place, `type '${formatType(type)}' does not support field selection`);
  }

  noOverload(place: Place, name: string, types: readonly Type[], isMember: boolean): Type {
    const [target, ...rest] = types.map(formatType);
    const signature = isMember ? `${target}.(${rest.join(", ")})` : `(${[target, ...rest].join(", ")})`;
    const shown = types.length === 0 ? "()" : signature;
    return this.#report(place, `found no matching overload for '${name}' applied to '${shown}'`);
  }

  mismatch(place: Place, expected: Type, found: Type): void {
    this.#report(place, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  fieldMismatch(place: Place, field: string, expected: Type, found: Type): void {
    this.#report(
      place,
      `expected type of field '${field}' is '${formatType(expected)}' but provided type is '${formatType(found)}'`,
    );
  }

  noRange(place: Place, type: Type): void {
    this.#report(
      place,
      `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
  }
}
