// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { IntOrString } from "../wire-types.ts";

/** Probe. */
export interface Probe {
  /** Exec. */
  exec?: ExecAction;
  /** Failure threshold. */
  failureThreshold?: number;
  /** Guest agent ping. */
  guestAgentPing?: GuestAgentPing;
  /** Http get. */
  httpGet?: HTTPGetAction;
  /** Initial delay seconds. */
  initialDelaySeconds?: number;
  /** Period seconds. */
  periodSeconds?: number;
  /** Success threshold. */
  successThreshold?: number;
  /** Tcp socket. */
  tcpSocket?: TCPSocketAction;
  /** Timeout seconds. */
  timeoutSeconds?: number;
}

/** Exec action. */
export interface ExecAction {
  /** Command. */
  command?: string[];
}

/** Guest agent ping. */
export type GuestAgentPing = Record<string, never>;

/** HTTP get action. */
export interface HTTPGetAction {
  /** Host. */
  host?: string;
  /** Http headers. */
  httpHeaders?: HTTPHeader[];
  /** Path. */
  path?: string;
  /** Port. */
  port: IntOrString;
  /** Scheme. */
  scheme?: "HTTP" | "HTTPS" | (string & {});
}

/** HTTP header. */
export interface HTTPHeader {
  /** Name. */
  name: string;
  /** Value. */
  value: string;
}

/** TCP socket action. */
export interface TCPSocketAction {
  /** Host. */
  host?: string;
  /** Port. */
  port: IntOrString;
}
