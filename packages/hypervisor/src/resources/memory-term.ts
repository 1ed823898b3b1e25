/** One reason for a number of bytes. */
export interface MemoryTerm {
  readonly name: string;
  readonly bytes: number;
}
