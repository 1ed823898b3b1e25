import {
  describeError,
  isJsonObject,
  parseQuantity,
  quantityToInteger,
  type Clock,
  type JsonValue,
  type Logger,
} from "@polyvirt/core";
import type { VirtualMachineInstance } from "@polyvirt/api";
import type { cmdV1, ServiceImplementation } from "@polyvirt/protocol";
import { hasEnded, requirePart, type DomainStatus, type MigrationOptions, type Stack } from "@polyvirt/stack";
import { errors } from "../errors.ts";
import type { Machine } from "../machine/machine.ts";

interface MigrationDependencies {
  readonly stack: Stack;
  readonly machine: Pick<Machine, "receive">;
  readonly readVmi: (request: { readonly vmi?: cmdV1.VMI | undefined }) => VirtualMachineInstance;
  /** Where the node agents of both ends connect the launchers: one socket in each pod. */
  readonly sockets: { readonly source: string; readonly target: string };
  /** Tells people that a move has failed. */
  readonly onFailure: (message: string) => void;
  readonly clock: Pick<Clock, "setTimer">;
  readonly logger: Logger;
}

const success = { success: true };

/** The part of the Cmd API that moves the machine. A move takes longer than a call may: its end is told by the states. */
export function migrationCommands(dependencies: MigrationDependencies): ServiceImplementation<typeof cmdV1.Cmd> {
  const { stack, machine, readVmi, sockets, onFailure, clock, logger } = dependencies;
  const { lifecycle } = stack;
  let moving: Promise<void> | undefined;
  return {
    async migrateVirtualMachine(request) {
      const vmi = readVmi(request);
      const migration = requirePart(stack, "migration", "move the machine");
      const { secondsPerGib, ...options } = readOptions(request.options);
      if (lifecycle.domain() === undefined) throw errors.LauncherRequestMalformed("move the machine: there is none");
      // Asked again while it moves, the same move goes on.
      if (moving !== undefined) return success;
      const limitMs = completionLimitMs(vmi, secondsPerGib);
      const hurry = (): void => {
        // A guest that changes its memory faster than it can be copied runs at the target from now on, or stays here.
        const step = options.allowPostCopy === true ? migration.startPostCopy() : migration.cancel();
        const what = options.allowPostCopy === true ? "going on by post-copy" : "giving up";
        logger.info("the move takes too long", { limitMs, what });
        step.catch((error: unknown) => logger.warn("cannot hurry the move", { error: describeError(error) }));
      };
      const timer = limitMs === undefined ? undefined : clock.setTimer(limitMs, hurry);
      moving = migration
        .send(sockets.source, options)
        .catch((error: unknown) => {
          logger.warn("the machine was not moved", { error: describeError(error) });
          onFailure(describeError(error));
        })
        .finally(() => {
          timer?.cancel();
          moving = undefined;
        });
      return success;
    },
    async cancelVirtualMachineMigration(request) {
      readVmi(request);
      await requirePart(stack, "migration", "stop moving the machine").cancel();
      return success;
    },
    async syncMigrationTarget(request) {
      requirePart(stack, "migration", "receive the machine");
      await machine.receive(readVmi(request), request.options, sockets.target);
      return success;
    },
    async finalizeVirtualMachineMigration(request) {
      readVmi(request);
      const status = lifecycle.domain()?.status;
      if (status === undefined || hasEnded(status) || isWaiting(status)) {
        throw errors.LauncherRequestMalformed("finish the move: the machine has not arrived");
      }
      return success;
    },
    /** The move has failed, and the machine runs on at the source: what waits for it here goes away. */
    async signalTargetPodCleanup(request) {
      readVmi(request);
      const status = lifecycle.domain()?.status;
      if (status !== undefined && isWaiting(status)) await lifecycle.kill();
      return success;
    },
  };
}

/** A machine that is to come from elsewhere. */
function isWaiting({ state, reason }: DomainStatus): boolean {
  return state === "Paused" && reason === "Migration";
}

const gibibyte = 1024 ** 3;

/** How long the move of this guest may take; undefined when it may take as long as it takes. */
export function completionLimitMs(
  { spec }: Pick<VirtualMachineInstance, "spec">,
  secondsPerGib: number | undefined,
): number | undefined {
  if (secondsPerGib === undefined) return undefined;
  const { memory, resources } = spec.domain;
  const size = memory?.guest ?? resources?.requests?.["memory"] ?? gibibyte;
  // Less than a gibibyte takes its time as well.
  const gibibytes = Math.max(1, Number(quantityToInteger(parseQuantity(String(size)))) / gibibyte);
  return Math.ceil(secondsPerGib * gibibytes * 1000);
}

interface RequestedMove extends MigrationOptions {
  /** After that long for each gibibyte of memory, the move goes on by post-copy where that is allowed, or is given up. */
  readonly secondsPerGib?: number;
}

/** KubeVirt's options have the names of Go fields. */
export function readOptions(json: Uint8Array): RequestedMove {
  if (json.length === 0) return {};
  let options: JsonValue;
  try {
    // What JSON.parse returns is a JSON value.
    options = JSON.parse(Buffer.from(json).toString("utf8")) as JsonValue;
  } catch (cause) {
    throw errors.LauncherRequestMalformed("read the options of a migration: they are not JSON", { cause });
  }
  if (!isJsonObject(options)) throw errors.LauncherRequestMalformed("read the options of a migration: no object");
  const { Bandwidth: bandwidth, AllowAutoConverge: converge, AllowPostCopy: postCopy } = options;
  const { CompletionTimeoutPerGiB: secondsPerGib } = options;
  const bytes = typeof bandwidth === "string" ? Number(quantityToInteger(parseQuantity(bandwidth))) : 0;
  return {
    // Nothing means without a limit.
    ...(bytes > 0 && { bandwidthBytesPerSecond: bytes }),
    allowAutoConverge: converge === true,
    allowPostCopy: postCopy === true,
    ...(typeof secondsPerGib === "number" && secondsPerGib > 0 && { secondsPerGib }),
  };
}
