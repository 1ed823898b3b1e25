/** The rules that hold for every hypervisor and architecture, in the order in which their causes are reported. */
import { accessCredentialRules } from "./access-credential.ts";
import { cpuRules } from "./cpu.ts";
import { deviceRules } from "./devices.ts";
import { diskRules } from "./disk.ts";
import { featureRules } from "./features.ts";
import { firmwareRules } from "./firmware.ts";
import { interfaceRules } from "./interface.ts";
import { machineRules } from "./machine.ts";
import { memoryRules } from "./memory.ts";
import { probeRules } from "./probe.ts";
import type { ValidationRule } from "./rule.ts";
import { valueRules } from "./values.ts";
import { volumeRules } from "./volume.ts";

export const baseRules: readonly ValidationRule[] = [
  ...memoryRules,
  ...cpuRules,
  ...machineRules,
  ...volumeRules,
  ...diskRules,
  ...interfaceRules,
  ...firmwareRules,
  ...featureRules,
  ...deviceRules,
  ...probeRules,
  ...accessCredentialRules,
  ...valueRules,
];
