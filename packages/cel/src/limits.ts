/** What an expression may be at most. The source and nesting limits are those of Kubernetes. */
export interface ParseLimits {
  /** Characters (code points) of source. */
  readonly sourceLength: number;
  /** Brackets inside brackets. */
  readonly nesting: number;
  /** Operators and selections on top of each other: `a + b + c` is two deep. Keeps recursion off the end of the stack. */
  readonly depth: number;
  readonly nodes: number;
}

export const defaultParseLimits: ParseLimits = { sourceLength: 100_000, nesting: 250, depth: 1_000, nodes: 50_000 };
