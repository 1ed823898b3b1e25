// Generated from packages/api/schema by `npm run generate`. Do not edit.

import type { IntOrString } from "../wire-types.ts";

/** A check of a guest. One of exec, guestAgentPing, httpGet and tcpSocket is set. */
export interface Probe {
  /** Command in the guest that must succeed; needs the guest agent. */
  exec?: ExecAction;
  /** Failures after which it counts as failed; 3 when unset. */
  failureThreshold?: number;
  /** The guest agent must answer. */
  guestAgentPing?: GuestAgentPing;
  /** HTTP request that must succeed. */
  httpGet?: HTTPGetAction;
  /** Seconds after the start before the first check. */
  initialDelaySeconds?: number;
  /** Seconds between checks; 10 when unset. */
  periodSeconds?: number;
  /** Successes after which it counts as passed; 1 when unset. */
  successThreshold?: number;
  /** TCP port that must accept connections. */
  tcpSocket?: TCPSocketAction;
  /** Seconds that a check may take; 1 when unset. */
  timeoutSeconds?: number;
}

/** A command. */
export interface ExecAction {
  /** Program and arguments; no shell. */
  command?: string[];
}

/** Present to ask the guest agent. */
export type GuestAgentPing = Record<string, never>;

/** An HTTP request. */
export interface HTTPGetAction {
  /** Host; the guest when unset. */
  host?: string;
  /** Headers. */
  httpHeaders?: HTTPHeader[];
  /** Path. */
  path?: string;
  /** Port, as number or name. */
  port: IntOrString;
  /** HTTP when unset. */
  scheme?: "HTTP" | "HTTPS" | (string & {});
}

/** A header of an HTTP request. */
export interface HTTPHeader {
  /** Its name. */
  name: string;
  /** Its value. */
  value: string;
}

/** A TCP connection. */
export interface TCPSocketAction {
  /** Host; the guest when unset. */
  host?: string;
  /** Port, as number or name. */
  port: IntOrString;
}
