/** What a caller should know about one kind of failure: written once here, shown in docs/reference/errors.md. */
export interface ErrorKind {
  /** What happened, in one sentence. */
  readonly meaning: string;
  /** What the reader can do about it. */
  readonly action: string;
  /** Whether trying the same thing again later may succeed. */
  readonly retry: boolean;
}

type FieldValue = string | number | boolean | readonly string[] | undefined;

interface ErrorDetails {
  /** Names and values a program may want: the object, the field, the path. */
  readonly fields?: Readonly<Record<string, FieldValue>>;
  readonly cause?: unknown;
}

/**
 * Base of every error that Polyvirt raises on purpose. The message names the operation and the object and says what to
 * do; it never repeats the cause, which `describeError` appends when the error is shown to a person.
 */
export class PolyvirtError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly fields: Readonly<Record<string, FieldValue>>;
  readonly retry: boolean;

  constructor(code: Code, message: string, options: ErrorDetails & { readonly retry: boolean }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = code;
    this.code = code;
    this.fields = options.fields ?? {};
    this.retry = options.retry;
  }
}

type ErrorFactories<T extends Record<string, ErrorKind>> = {
  readonly [Code in keyof T & string]: (message: string, details?: ErrorDetails) => PolyvirtError<Code>;
};

/**
 * Turns a package's table of error kinds into constructors: `errors.PortTaken("listen on 127.0.0.1:6443")`.
 * Each package has one such table in its `errors.ts`, exported as `errorKinds`; codes are unique in the whole project.
 */
export function defineErrors<const T extends Record<string, ErrorKind>>(kinds: T): ErrorFactories<T> {
  const factories = Object.entries(kinds).map(([code, kind]) => [
    code,
    (message: string, details: ErrorDetails = {}) =>
      new PolyvirtError(code, message, { ...details, retry: kind.retry }),
  ]);
  // The table's keys are the codes, so the mapped type holds by construction.
  return Object.fromEntries(factories) as ErrorFactories<T>;
}

/** Recognises an error by code across bundles, where `instanceof` may see two copies of the class. */
export function hasCode<Code extends string>(error: unknown, code: Code): error is PolyvirtError<Code> {
  return error instanceof Error && "code" in error && error.code === code;
}

/** One line for a person: the message and the chain of causes, each once. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  let current: unknown = error;
  while (current !== undefined && current !== null && !seen.has(current) && seen.size < 10) {
    seen.add(current);
    const text =
      current instanceof Error ? current.message : typeof current === "string" ? current : JSON.stringify(current);
    if (text !== "" && !parts.some((part) => part.includes(text))) parts.push(text);
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(": ");
}

/** The errors that this package itself raises. */
export const errorKinds = {
  JsonPointerInvalid: {
    meaning: "A text is not a JSON pointer (RFC 6901).",
    action: 'Write "/part/part", with "~0" for "~" and "~1" for "/" inside a part.',
    retry: false,
  },
  JsonPatchInvalid: {
    meaning: "A JSON patch (RFC 6902) is not well formed.",
    action: "Correct the operation that the message names.",
    retry: false,
  },
  JsonPatchNotApplicable: {
    meaning: "A JSON patch does not fit the document: a path is missing, or a test failed.",
    action: "Compare the path in the message with the document; make the parent first if it is missing.",
    retry: false,
  },
  QuantityInvalid: {
    meaning: "A text is not a Kubernetes quantity.",
    action: 'Write a number with an optional suffix, such as "500m", "2", "128Mi" or "1e3".',
    retry: false,
  },
  DurationInvalid: {
    meaning: "A text is not a duration.",
    action: 'Write numbers with units, such as "300ms", "30s" or "1h15m".',
    retry: false,
  },
  SelectorInvalid: {
    meaning: "A label selector cannot be read.",
    action: 'Write requirements such as "app=web,tier in (a,b),!legacy".',
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const errors = defineErrors(errorKinds);
