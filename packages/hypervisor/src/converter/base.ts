/** The configurators that every hypervisor shares, in order. The hypervisor's own `virt-type` comes last. */
import type { Configurator } from "../contract.ts";
import { channel } from "./channel.ts";
import { clock } from "./clock.ts";
import { commandLine } from "./command-line.ts";
import { serialConsole } from "./console.ts";
import { controllers } from "./controllers.ts";
import { cpuPlacement } from "./cpu-placement.ts";
import { cpu } from "./cpu.ts";
import { disk } from "./disk.ts";
import { features } from "./features.ts";
import { filesystem } from "./filesystem.ts";
import { graphics } from "./graphics.ts";
import { hostDevice } from "./host-device.ts";
import { input } from "./input.ts";
import { networkInterface } from "./interface.ts";
import { ioThreads } from "./io-threads.ts";
import { iommufd } from "./iommufd.ts";
import { launchSecurity } from "./launch-security.ts";
import { memoryBacking } from "./memory-backing.ts";
import { memoryBalloon } from "./memory-balloon.ts";
import { memory } from "./memory.ts";
import { metadata } from "./metadata.ts";
import { numa } from "./numa.ts";
import { os } from "./os.ts";
import { panicDevice } from "./panic-device.ts";
import { rebootPolicy } from "./reboot-policy.ts";
import { rng } from "./rng.ts";
import { sound } from "./sound.ts";
import { sysinfo } from "./sysinfo.ts";
import { tpm } from "./tpm.ts";
import { usbRedirection } from "./usb-redirection.ts";
import { vsock } from "./vsock.ts";
import { watchdog } from "./watchdog.ts";

export const baseConfigurators: readonly Configurator[] = [
  metadata,
  networkInterface,
  tpm,
  vsock,
  launchSecurity,
  channel,
  clock,
  rng,
  input,
  memoryBalloon,
  graphics,
  sound,
  hostDevice,
  watchdog,
  serialConsole,
  panicDevice,
  features,
  sysinfo,
  os,
  filesystem,
  disk,
  usbRedirection,
  controllers,
  commandLine,
  cpu,
  ioThreads,
  memory,
  memoryBacking,
  numa,
  rebootPolicy,
  iommufd,
  cpuPlacement,
];
