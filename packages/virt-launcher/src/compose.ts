import { describeError, type Clock, type Logger } from "@polyvirt/core";
import type { Architecture, Hypervisor } from "@polyvirt/hypervisor";
import type { Stack } from "@polyvirt/stack";
import { readCredentialSecret } from "./access-credentials/credential-secrets.ts";
import { CredentialSync } from "./access-credentials/credential-sync.ts";
import { cmdServices } from "./cmd/cmd-service.ts";
import { openCommandSocket } from "./cmd/command-socket.ts";
import { qemuImg } from "./disks/qemu-img.ts";
import type { LauncherOptions } from "./launcher-options.ts";
import { podPaths, type LauncherPaths } from "./launcher-paths.ts";
import { describeDomain } from "./machine/domain-document.ts";
import { refuseHooks, type DomainHooks } from "./machine/domain-hooks.ts";
import { Machine } from "./machine/machine.ts";
import { createGuestNetwork } from "./network/guest-network.ts";
import { credentialEvent, guestEvent, migrationFailed, probeFailed } from "./notify/guest-events.ts";
import { Notifier } from "./notify/notifier.ts";
import { createNotifyClient } from "./notify/notify-client.ts";
import { supervise, type Ending } from "./supervise/supervisor.ts";

export interface LauncherDependencies {
  readonly options: LauncherOptions;
  /** Which virtualization stack runs the machine: the launcher's image decides. */
  readonly stack: Stack;
  readonly hypervisor: Pick<Hypervisor, "converter" | "node">;
  readonly hostArchitecture: Architecture;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hooks?: DomainHooks;
  readonly paths?: LauncherPaths;
}

export interface VirtLauncher {
  /** Serves until the machine has ended or the signal says to stop; everything that it started is gone afterwards. */
  run(stop: AbortSignal): Promise<Ending>;
}

/** How long the last words may take to reach the node agent. */
const finalNotifyMs = 30_000;
/** When the pod is being deleted as well, nobody should wait long for a node agent that is away. */
const hurriedNotifyMs = 3_000;

export function composeVirtLauncher(dependencies: LauncherDependencies): VirtLauncher {
  const { options, stack, clock, logger, paths = podPaths, hooks = refuseHooks } = dependencies;
  const notifier = new Notifier({
    channel: createNotifyClient(`${paths.public}/domain-notify-pipe.sock`),
    clock,
    logger,
  });
  const network = createGuestNetwork({ podAddress: options.podAddress, logger });
  const describe = (deletedAt?: string) => {
    const domain = stack.lifecycle.domain();
    return domain === undefined ? undefined : describeDomain(options.vmi, domain, deletedAt);
  };
  const tellState = (): void => {
    const document = describe();
    if (document !== undefined) notifier.publish(document);
  };
  const machine = new Machine({ ...dependencies, hooks, paths, images: qemuImg, network, onChange: tellState });
  const credentials = new CredentialSync({
    agent: stack.guestAgent,
    readSecret: (secretName) => readCredentialSecret(paths, secretName),
    clock,
    logger,
    onResult: (result) => notifier.publishEvent(credentialEvent(result, options.vmi)),
  });
  const services = cmdServices({
    stack,
    machine,
    credentials,
    onProbeFailed: (message) => notifier.publishEvent(probeFailed(message, options.vmi)),
    vmi: options.vmi,
    describe,
    capabilityTarget: {
      architecture: dependencies.hostArchitecture,
      virtType: options.allowEmulation ? "qemu" : dependencies.hypervisor.node.virtType,
    },
    migrationSockets: {
      source: `${paths.public}/migrationproxy/${options.vmi.uid}-source.sock`,
      target: `${paths.public}/migrationproxy/${options.vmi.uid}-target.sock`,
    },
    onMigrationFailed: (message) => notifier.publishEvent(migrationFailed(message, options.vmi)),
    clock,
    logger,
  });

  return {
    async run(stop) {
      stack.lifecycle.subscribe((event) => {
        logger.info("machine", { event });
        const told = guestEvent(event, options.vmi);
        if (told !== undefined) notifier.publishEvent(told);
        if (event.kind === "guestAgent") credentials.agentChanged(event.connected);
        if (event.kind === "status" || event.kind === "deviceRemoved") tellState();
      });
      const socket = await openCommandSocket({ directory: paths.sockets, services, logger });
      // While the node agent takes over; a failure shows again, and is told, when the machine is started.
      stack.prepare?.().catch((error: unknown) => logger.warn("cannot prepare", { error: describeError(error) }));
      logger.info("ready", { stack: stack.name, vmi: `${options.vmi.namespace}/${options.vmi.name}` });
      try {
        const { gracePeriodMs, startTimeoutMs } = options;
        const ending = await supervise({ stack, clock, logger, gracePeriodMs, startTimeoutMs }, stop);
        const last = describe(new Date(clock.now()).toISOString());
        if (last !== undefined) notifier.publishDeleted(last);
        const heard = await notifier.flush(finalNotifyMs, { signal: stop, limitMs: hurriedNotifyMs });
        if (!heard) logger.error("the node agent did not hear of the machine's end");
        return ending;
      } finally {
        credentials.close();
        await stack.close();
        network.close();
        notifier.close();
        await socket.close();
      }
    },
  };
}
