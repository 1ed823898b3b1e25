import type { Settings } from "node:http2";
import { errors } from "./errors.ts";

/** Windows wide enough that a message of ordinary size needs no waiting; a bound on calls that one peer has open. */
export const streamSettings: Settings = {
  enablePush: false,
  initialWindowSize: 1024 * 1024,
  maxConcurrentStreams: 100,
};

/** `unix:/path` as gRPC writes addresses of unix sockets, the only ones that are used here. */
export function socketPathOf(address: string): string {
  const path = /^unix:(?:\/\/)?(\/.+)$/.exec(address)?.[1];
  if (path === undefined) throw errors.ProtocolMalformed(`read the address ${address}: it must be unix:/path`);
  return path;
}
