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
