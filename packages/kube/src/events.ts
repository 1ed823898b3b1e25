import { createHash } from "node:crypto";
import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import { events, type Event, type KubeObject, type ObjectReference } from "@polyvirt/api/k8s";
import type { KubeClient } from "./client/kube-client.ts";

export type EventType = "Normal" | "Warning";

/** Tells people what happened to an object: `kubectl describe` and `kubectl events` show it. */
export interface EventRecorder {
  /** Never throws and never makes the caller wait. */
  record(object: KubeObject, type: EventType, reason: string, message: string): void;
  /** Resolves when everything recorded so far has been sent or given up. */
  flush(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, "create" | "patch">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `virt-controller`. */
  readonly component: string;
  /** Node or pod on which the component runs. */
  readonly host?: string;
}

/** How long the same event only raises the count of the first one. */
const AGGREGATION_MS = 10 * 60 * 1000;
const MAX_REMEMBERED = 1000;
const MAX_MESSAGE = 1024;
/** Further events are dropped while the server is away, so that memory stays bounded. */
const MAX_WAITING = 500;
const LANES = 4;

interface Remembered {
  readonly name: string;
  readonly namespace: string;
  count: number;
  lastSeen: number;
}

/** The same event (object, type, reason, message) within ten minutes raises the count instead of making a new object. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new AggregatingRecorder(options);
}

class AggregatingRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  /** Most recently used last. */
  readonly #remembered = new Map<string, Remembered>();
  /** Events of one object stay in order; those of different objects need not wait for each other. */
  readonly #lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve());
  #waiting = 0;
  #sequence = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(object: KubeObject, type: EventType, reason: string, message: string): void {
    if (this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    const at = this.#options.clock.now();
    const lane = laneOf(object);
    const before = this.#lanes[lane] ?? Promise.resolve();
    this.#lanes[lane] = before
      .then(() => this.#send(object, type, reason, message.slice(0, MAX_MESSAGE), at))
      .catch((error: unknown) =>
        this.#options.logger.warn("an event could not be recorded", { reason, error: describeError(error) }),
      )
      .finally(() => this.#waiting--);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#lanes);
  }

  async #send(object: KubeObject, type: EventType, reason: string, message: string, at: number): Promise<void> {
    const involvedObject = referenceTo(object);
    const key = JSON.stringify([involvedObject.kind, involvedObject.uid, involvedObject.name, type, reason, message]);
    const known = this.#remembered.get(key);
    this.#remembered.delete(key);
    if (known !== undefined && at - known.lastSeen < AGGREGATION_MS && (await this.#bump(known, at))) {
      this.#remembered.set(key, known);
      return;
    }
    const event = this.#build(involvedObject, type, reason, message, at);
    await this.#options.client.create(events, event);
    this.#remember(key, {
      name: event.metadata.name ?? "",
      namespace: event.metadata.namespace ?? "",
      count: 1,
      lastSeen: at,
    });
  }

  /** False when the event has expired on the server and a new one is needed. */
  async #bump(known: Remembered, at: number): Promise<boolean> {
    known.count++;
    known.lastSeen = at;
    try {
      const body = { count: known.count, lastTimestamp: seconds(at) };
      await this.#options.client.patch(events, known.name, known.namespace, { type: "merge", body });
      return true;
    } catch (error) {
      if (hasCode(error, "KubeNotFound")) return false;
      throw error;
    }
  }

  #build(involvedObject: ObjectReference, type: EventType, reason: string, message: string, at: number): Event {
    const { component, host } = this.#options;
    const unique = createHash("sha256")
      .update(`${component}/${host}/${at}/${this.#sequence++}/${involvedObject.uid}`)
      .digest("hex")
      .slice(0, 16);
    return {
      apiVersion: "v1",
      kind: "Event",
      // Events about cluster-scoped objects live in the namespace "default".
      metadata: { name: `${involvedObject.name}.${unique}`, namespace: involvedObject.namespace ?? "default" },
      involvedObject,
      type,
      reason,
      message,
      source: { component, ...(host === undefined ? {} : { host }) },
      firstTimestamp: seconds(at),
      lastTimestamp: seconds(at),
      count: 1,
      reportingComponent: component,
      reportingInstance: host ?? "",
    };
  }

  #remember(key: string, entry: Remembered): void {
    this.#remembered.set(key, entry);
    if (this.#remembered.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }
}

function laneOf({ metadata }: KubeObject): number {
  const identity = metadata.uid ?? metadata.name ?? "";
  let sum = 0;
  for (const character of identity) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return sum % LANES;
}

function referenceTo(object: KubeObject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    ...(object.apiVersion === undefined ? {} : { apiVersion: object.apiVersion }),
    ...(object.kind === undefined ? {} : { kind: object.kind }),
    name: name ?? "",
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** Kubernetes' times have no fractions of a second. */
function seconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");
}
