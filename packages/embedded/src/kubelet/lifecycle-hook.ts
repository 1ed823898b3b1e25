import type { Container, Lifecycle } from "@polyvirt/api/k8s";
import type { Clock } from "@polyvirt/core";
import type { PodRecord } from "./pod-record.ts";
import { runProbe } from "./probes/probe-runner.ts";

type Hook = NonNullable<Lifecycle["postStart"]>;

/** Carries a postStart or preStop hook out, within the limit. Returns why it failed, or undefined. */
export async function runLifecycleHook(
  record: PodRecord,
  container: Container,
  hook: Hook,
  limitMs: number,
  clock: Clock,
): Promise<string | undefined> {
  if (hook.sleep !== undefined) {
    await clock.sleep(Math.min(hook.sleep.seconds * 1000, limitMs));
    return undefined;
  }
  const { success, message } = await runProbe(record, container, { ...hook, timeoutSeconds: limitMs / 1000 });
  return success ? undefined : message;
}
