/**
 * Ring 0: what every package builds on. Errors with codes, structured logging, injected time, Kubernetes quantities and
 * names, JSON pointer, patch and diff. Pure: no files, no network, and nothing here knows Kubernetes objects or VMs.
 * Start with `errors.ts`.
 */
export { PolyvirtError, defineErrors, describeError, hasCode, type ErrorKind } from "./errors.ts";
export { systemClock, type Clock, type Timer } from "./clock.ts";
export { createLogger, silentLogger, type Logger } from "./logger.ts";
