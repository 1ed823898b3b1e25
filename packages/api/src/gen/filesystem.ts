// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Filesystem. */
export interface Filesystem {
  /** Name. */
  name: string;
  /** Virtiofs. */
  virtiofs: FilesystemVirtiofs;
}

/** Filesystem virtiofs. */
export type FilesystemVirtiofs = Record<string, never>;
