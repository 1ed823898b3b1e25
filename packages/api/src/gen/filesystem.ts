// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A file system that the node shares with the guest. */
export interface Filesystem {
  /** Volume that backs it, and tag that the guest mounts. */
  name: string;
  /** It is shared by virtiofs. */
  virtiofs: FilesystemVirtiofs;
}

/** Present to share by virtiofs. */
export type FilesystemVirtiofs = Record<string, never>;
