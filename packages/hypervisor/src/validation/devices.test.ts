import { describe, expect, it } from "vitest";
import { type Case, causeOf, causes } from "../testing/validation.ts";

describe("devices and probes", () => {
  const probe = "spec.readinessProbe";
  it.each<Case>([
    {
      domain: { devices: { inputs: [{ name: "i", bus: "ps2", type: "tablet" }] } },
      field: "spec.domain.devices.inputs[0].bus",
      message: "Input device can have only virtio or usb bus.",
    },
    {
      domain: { devices: { inputs: [{ name: "i", type: "mouse" }] } },
      field: "spec.domain.devices.inputs[0].type",
      message: "Input device can have only tablet type.",
    },
    {
      domain: { devices: { sound: { name: "s", model: "sb16" } } },
      field: "spec.domain.devices.sound",
      message: "Sound device type is not supported. Options: 'ich9' or 'ac97'",
    },
    {
      domain: { devices: { sound: { name: "" } } },
      reason: "FieldValueRequired",
      field: "spec.domain.devices.sound.name",
      message: "Sound device requires a name field.",
    },
    {
      domain: { devices: { hostDevices: [{ name: "d", deviceName: "vendor/dev" }] } },
      field: "spec.domain.devices.hostDevices[0]",
      message: "Host Devices feature gate is not enabled in kubevirt-config",
    },
    {
      domain: { devices: { filesystems: [{ name: "f", virtiofs: {} }] } },
      spec: { volumes: [{ name: "f", configMap: { name: "c" } }] },
      field: "spec.domain.devices.filesystems[0]",
      message:
        "virtiofs is not allowed: virtiofs feature gate is not enabled for config volumes (EnableVirtioFsConfigVolumes)",
    },
    {
      domain: { devices: { filesystems: [{ name: "f", virtiofs: {} }] } },
      spec: { volumes: [{ name: "f", persistentVolumeClaim: { claimName: "c" } }] },
      field: "spec.domain.devices.filesystems[0]",
      message: "virtiofs is not allowed: virtiofs feature gate is not enabled for PVC (EnableVirtioFsStorageVolumes)",
    },
    {
      domain: { devices: { filesystems: [{ name: "f", virtiofs: {} }] } },
      spec: { volumes: [{ name: "f", emptyDisk: { capacity: "1Gi" } }] },
      field: "spec.domain.devices.filesystems[0].name",
      message: "spec.domain.devices.filesystems[0].name 'f' is a volume without files, which virtiofs cannot share",
    },
    {
      domain: { devices: { autoattachVSOCK: true } },
      field: "spec.domain.devices.autoattachVSOCK",
      message: "VSOCK feature gate is not enabled in kubevirt-config",
    },
    {
      domain: { devices: { video: { type: "virtio" }, autoattachGraphicsDevice: false } },
      field: "spec.domain.devices.video",
      message: "Video configuration is not allowed when autoattachGraphicsDevice is set to false",
    },
    {
      domain: { devices: { panicDevices: [{ model: "loud" }] } },
      field: "spec.domain.devices.panicDevices[0].model",
      message: "invalid PanicDeviceModel(loud)",
    },
    {
      domain: { rebootPolicy: "Terminate" },
      field: "spec.domain.rebootPolicy",
      message: "RebootPolicy is specified but the RebootPolicy feature gate is not enabled",
    },
    {
      spec: { readinessProbe: { exec: { command: ["true"] }, guestAgentPing: {} } },
      field: probe,
      message: `${probe} must have exactly one probe type set`,
    },
    {
      spec: { readinessProbe: {} },
      reason: "FieldValueRequired",
      field: probe,
      message: `either ${probe}.tcpSocket, ${probe}.exec or ${probe}.httpGet must be set if a ${probe} is specified`,
    },
    {
      spec: { readinessProbe: { httpGet: { port: 80 } } },
      field: `${probe}.httpGet`,
      message: `${probe}.httpGet is only allowed if the Pod Network is attached`,
    },
  ])("$message", (given) => {
    expect(causes(given)).toContainEqual(causeOf(given));
  });
});
