/** A window of a terminal. */
export interface WindowSize {
  readonly columns: number;
  readonly rows: number;
}

/** The streams between a client and a process of a container, however they travel. */
export interface RemoteStreams {
  /** Resolves, when it returns a promise, as soon as the client has taken enough to be sent more. */
  send(stream: "stdout" | "stderr", data: Buffer): Promise<void> | undefined;
  onInput(listener: (data: Buffer) => void): void;
  /** The client sends no more. */
  onInputEnd(listener: () => void): void;
  onResize(listener: (size: WindowSize) => void): void;
  /** The client is gone. */
  onClose(listener: () => void): void;
  /** Tells, with a Kubernetes Status, how it ended, and ends the connection. */
  finish(status: object): void;
}

/** Data that waits for a slow client is bounded by this. */
export const pauseAboveBytes = 1024 * 1024;
