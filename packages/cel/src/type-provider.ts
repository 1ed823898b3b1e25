import type { Type } from "./types.ts";
import type { Value } from "./values.ts";

export interface FieldInfo {
  readonly type: Type;
  /** The property that the field reads, where the field's name had to be escaped. */
  readonly property?: string;
}

/** Where struct types come from: Kubernetes schemas, `Object{…}` of mutations. All names are fully qualified. */
export interface TypeProvider {
  /** The type that a name stands for, for `Type{…}` and `type(x) == Type`. */
  findType(name: string): Type | undefined;
  findField(typeName: string, field: string): FieldInfo | undefined;
  /** For suggestions in messages. */
  fieldNames(typeName: string): Iterable<string>;
  /** The value of `Type{…}`; undefined when the type cannot be constructed. */
  construct?(typeName: string, fields: ReadonlyMap<string, Value>): Value | undefined;
}

/** Asks each provider in turn. */
export function joinProviders(providers: readonly TypeProvider[]): TypeProvider {
  const [only] = providers;
  if (only !== undefined && providers.length === 1) return only;
  const first = <T>(ask: (provider: TypeProvider) => T | undefined): T | undefined => {
    for (const provider of providers) {
      const answer = ask(provider);
      if (answer !== undefined) return answer;
    }
    return undefined;
  };
  return {
    findType: (name) => first((provider) => provider.findType(name)),
    findField: (typeName, field) => first((provider) => provider.findField(typeName, field)),
    fieldNames: (typeName) => providers.flatMap((provider) => [...provider.fieldNames(typeName)]),
    construct: (typeName, fields) => first((provider) => provider.construct?.(typeName, fields)),
  };
}
