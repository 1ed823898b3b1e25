import * as fs from "node:fs";
import * as path from "node:path";
import type { Container } from "@polyvirt/api/k8s";
import { readContainerState, type ContainerState } from "@polyvirt/host";
import type { NodePaths } from "./node-paths.ts";
import { containersOf, type ContainerObservation, type Instance, type PodObservation } from "./pod-observation.ts";
import type { ContainerRecord, PodRecord } from "./pod-record.ts";
import type { ContainerVerdict } from "./probes/probe-verdict.ts";

interface Verdicts {
  verdictOf(record: PodRecord, container: Container): ContainerVerdict;
}

const terminationMessageBytes = 4096;

/** Reads what is known about a pod's containers at this moment. */
export function observePod(record: PodRecord, paths: NodePaths, verdicts: Verdicts, now: number): PodObservation {
  const containers = new Map<string, ContainerObservation>();
  for (const { container } of containersOf(record.pod)) {
    const known = record.containers.get(container.name);
    if (known !== undefined) containers.set(container.name, observeContainer(record, container, known));
  }
  return {
    now,
    prepared: record.prepared,
    ...(record.prepareAgainAt === undefined ? {} : { prepareAgainAt: record.prepareAgainAt }),
    containers,
    ...(record.ended === undefined ? {} : { ended: record.ended }),
    ...(record.halting === undefined ? {} : { halting: record.halting }),
  };

  function observeContainer(pod: PodRecord, container: Container, known: ContainerRecord): ContainerObservation {
    const current = instanceOf(pod.uid, container, known, known.attempt);
    const previous = known.attempt > 0 ? instanceOf(pod.uid, container, undefined, known.attempt - 1) : undefined;
    const running = current?.phase === "running";
    const verdict = running ? verdicts.verdictOf(pod, container) : { started: false, ready: false };
    return {
      ...(current === undefined ? {} : { current }),
      ...(previous === undefined ? {} : { previous }),
      ...(known.waiting === undefined ? {} : { waiting: known.waiting }),
      ...(known.backOff === undefined ? {} : { backOff: known.backOff }),
      ...(known.stopping === undefined ? {} : { stopping: known.stopping }),
      ...verdict,
    };
  }

  function instanceOf(
    uid: string,
    container: Container,
    known: ContainerRecord | undefined,
    attempt: number,
  ): Instance | undefined {
    if (attempt < 0) return undefined;
    const directory = paths.container(uid, container.name, attempt);
    const state = known?.process?.state() ?? readContainerState(directory, now);
    return toInstance(state, attempt, () =>
      terminationMessage(directory, container, paths.log(uid, container.name, attempt)),
    );
  }
}

function toInstance(state: ContainerState, attempt: number, message: () => string | undefined): Instance {
  switch (state.phase) {
    case "starting":
      return { attempt, phase: "starting" };
    case "running":
      return { attempt, phase: "running", startedAt: state.startedAt };
    case "exited": {
      const times = {
        finishedAt: state.finishedAt,
        ...(state.startedAt === undefined ? {} : { startedAt: state.startedAt }),
      };
      const interruption = state.interrupted ? ({ interrupted: true } as const) : {};
      const base = { attempt, phase: "exited" as const, exitCode: state.exitCode, ...times, ...interruption };
      if (state.setupError !== undefined)
        return { ...base, exitCode: 128, reason: "StartError", message: state.setupError };
      if (state.lost) {
        const text = "The container could not be located: its exit was not recorded";
        return { ...base, reason: "ContainerStatusUnknown", message: text };
      }
      if (state.outOfMemory && state.exitCode !== 0) return { ...base, reason: "OOMKilled" };
      const said = message();
      return said === undefined || said === "" ? base : { ...base, message: said };
    }
  }
}

/**
 * What the container said about its own end. The file is in the kubelet's folder and only bind-mounted into the
 * container, which can write to it but cannot put a link in its place.
 */
function terminationMessage(directory: string, container: Container, logFile: string): string | undefined {
  const text = readHead(path.join(directory, "termination-log"), terminationMessageBytes);
  if (text !== "" || container.terminationMessagePolicy !== "FallbackToLogsOnError") return text;
  return readHead(logFile, terminationMessageBytes);
}

function readHead(file: string, bytes: number): string {
  try {
    const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    try {
      const buffer = Buffer.alloc(bytes);
      return buffer.subarray(0, fs.readSync(fd, buffer, 0, bytes, 0)).toString("utf8");
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    // It wrote none.
    return "";
  }
}
