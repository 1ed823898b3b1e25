import type { FeatureGateName, Volume } from "@polyvirt/api";
import { architectureProfiles } from "../arch/index.ts";
import type { Report, Subject, ValidationRule } from "./rule.ts";

function checkInputs({ spec, field }: Subject, report: Report): void {
  for (const [index, { bus, type }] of (spec.domain.devices.inputs ?? []).entries()) {
    const at = `${field}.domain.devices.inputs[${index}]`;
    if (!["", "virtio", "usb"].includes(bus ?? ""))
      report.invalid(`${at}.bus`, "Input device can have only virtio or usb bus.");
    if (type !== "tablet") report.invalid(`${at}.type`, "Input device can have only tablet type.");
  }
}

function checkSound({ spec, field }: Subject, report: Report): void {
  const sound = spec.domain.devices.sound;
  if (sound === undefined) return;
  const at = `${field}.domain.devices.sound`;
  if (!["", "ich9", "ac97"].includes(sound.model ?? ""))
    report.invalid(at, "Sound device type is not supported. Options: 'ich9' or 'ac97'");
  if (!sound.name) report.required(`${at}.name`, "Sound device requires a name field.");
}

function checkVideo({ spec, field, architecture }: Subject, report: Report): void {
  const { video, autoattachGraphicsDevice } = spec.domain.devices;
  if (video === undefined) return;
  const at = `${field}.domain.devices.video`;
  if (autoattachGraphicsDevice === false) {
    report.invalid(at, "Video configuration is not allowed when autoattachGraphicsDevice is set to false");
  }
  if (!video.type || architecture === undefined) return;
  if (!architectureProfiles[architecture].video.allowed.includes(video.type)) {
    report.notSupported(`${at}.type`, `video model '${video.type}' is not supported on ${architecture} architecture`);
  }
}

const panicModels = ["hyperv", "isa", "pvpanic"];

function checkPanicDevices({ spec, field }: Subject, report: Report): void {
  for (const [index, { model }] of (spec.domain.devices.panicDevices ?? []).entries()) {
    const at = `${field}.domain.devices.panicDevices[${index}].model`;
    if (model === undefined) report.required(at, `${at} must be set`);
    else if (!panicModels.includes(model)) report.invalid(at, `invalid PanicDeviceModel(${model})`);
  }
}

function checkWatchdog({ spec, field }: Subject, report: Report): void {
  const watchdog = spec.domain.devices.watchdog;
  if (watchdog === undefined) return;
  const at = `${field}.domain.devices.watchdog`;
  for (const model of ["i6300esb", "diag288"] as const) {
    const action = watchdog[model]?.action ?? "";
    if (!["", "poweroff", "reset", "shutdown"].includes(action)) {
      report.invalid(`${at}.${model}.action`, `${at}.${model}.action is set with an unrecognized option: ${action}`);
    }
  }
}

/** GPUs and host devices: found by a resource that the administrator permits, or by a claim. */
function checkHostDevices({ spec, field, config }: Subject, report: Report): void {
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  for (const list of ["hostDevices", "gpus"] as const) {
    const names = new Set<string>();
    for (const [index, device] of (spec.domain.devices[list] ?? []).entries()) {
      const at = `${field}.domain.devices.${list}[${index}]`;
      if (names.has(device.name))
        report.duplicate(`${at}.name`, `${at}.name '${device.name}' is used by another device`);
      names.add(device.name);
      const byResource = Boolean(device.deviceName);
      const byClaim = Boolean(device.claimName ?? device.requestName);
      if (byResource === byClaim) report.invalid(at, `${at} must have either deviceName or claimName and requestName`);
      if (device.claimName && !claims.has(device.claimName)) {
        report.invalid(`${at}.claimName`, `${at}.claimName '${device.claimName}' not found.`);
      }
      if (
        device.deviceName &&
        config.permittedHostDevices !== undefined &&
        !config.permittedHostDevices.has(device.deviceName)
      ) {
        report.invalid(
          `${at}.deviceName`,
          `${device.deviceName} is not permitted in permittedHostDevices of the KubeVirt configuration`,
        );
      }
    }
  }
}

/** Volumes that can be shared as folders, each with the gate that it takes. */
const sharedSources: readonly {
  readonly sources: readonly (keyof Volume)[];
  readonly gate: FeatureGateName;
  readonly what: string;
}[] = [
  {
    sources: ["configMap", "secret", "serviceAccount", "downwardAPI"],
    gate: "EnableVirtioFsConfigVolumes",
    what: "config volumes",
  },
  { sources: ["persistentVolumeClaim", "dataVolume"], gate: "EnableVirtioFsStorageVolumes", what: "PVC" },
];

function checkFilesystems({ spec, field, config }: Subject, report: Report): void {
  for (const [index, { name, virtiofs }] of (spec.domain.devices.filesystems ?? []).entries()) {
    const at = `${field}.domain.devices.filesystems[${index}]`;
    // The type of the API says that it is there; an object from a client may still lack it.
    if ((virtiofs as object | undefined) === undefined) report.required(`${at}.virtiofs`, `${at}.virtiofs must be set`);
    const volume = spec.volumes?.find((candidate) => candidate.name === name);
    if (volume === undefined) continue;
    const kind = sharedSources.find(({ sources }) => sources.some((source) => volume[source] !== undefined));
    if (kind === undefined) {
      report.invalid(`${at}.name`, `${at}.name '${name}' is a volume without files, which virtiofs cannot share`);
    } else if (!config.isEnabled(kind.gate)) {
      report.invalid(
        at,
        `virtiofs is not allowed: virtiofs feature gate is not enabled for ${kind.what} (${kind.gate})`,
      );
    }
  }
}

const timezonePattern = /^[A-Za-z0-9_+\-/]+$/;
const tickPolicies = {
  hpet: ["", "delay", "catchup", "merge", "discard"],
  pit: ["", "delay", "catchup", "discard"],
  rtc: ["", "delay", "catchup"],
} as const;

function checkClock({ spec, field }: Subject, report: Report): void {
  const clock = spec.domain.clock;
  if (clock === undefined) return;
  const at = `${field}.domain.clock`;
  if (clock.utc !== undefined && clock.timezone !== undefined)
    report.invalid(at, `${at} must have only one of utc and timezone set`);
  if (clock.timezone !== undefined && !timezonePattern.test(clock.timezone)) {
    report.invalid(`${at}.timezone`, `${at}.timezone '${clock.timezone}' is not the name of a time zone`);
  }
  for (const name of ["hpet", "pit", "rtc"] as const) {
    const policy = clock.timer?.[name]?.tickPolicy ?? "";
    const allowed: readonly string[] = tickPolicies[name];
    if (!allowed.includes(policy)) {
      report.invalid(
        `${at}.timer.${name}.tickPolicy`,
        `${at}.timer.${name}.tickPolicy is set with an unrecognized option: ${policy}`,
      );
    }
  }
  const track = clock.timer?.rtc?.track ?? "";
  if (!["", "guest", "wall"].includes(track)) {
    report.invalid(`${at}.timer.rtc.track`, `${at}.timer.rtc.track is set with an unrecognized option: ${track}`);
  }
}

export const deviceRules: readonly ValidationRule[] = [
  { name: "inputs", check: checkInputs },
  { name: "sound", check: checkSound },
  { name: "video", check: checkVideo },
  { name: "panic-devices", check: checkPanicDevices },
  { name: "watchdog", check: checkWatchdog },
  { name: "host-devices", check: checkHostDevices },
  { name: "filesystems", check: checkFilesystems },
  { name: "clock", check: checkClock },
];
