import type { Controller } from "./definition-types.ts";
import { deviceId, placement, virtioDriver, virtioProperties } from "./device.ts";
import type { DeviceProperties, MachinePlan } from "./machine-plan.ts";
import { Section } from "./section.ts";

/** SCSI controllers other than virtio, by the definition's names for them. */
const otherDrivers: Readonly<Record<string, string>> = {
  lsilogic: "lsi",
  lsisas1068: "mptsas1068",
  lsisas1078: "megasas",
  vmpvscsi: "pvscsi",
  dc390: "dc390",
  am53c974: "am53c974",
};

/** Controllers whose devices have only a number, no logical units. */
const flat = new Set(["lsilogic", "dc390", "am53c974"]);

/** The model of a controller that names none, as libvirt chooses it. */
function defaultModel(plan: MachinePlan): string {
  return plan.architecture.name === "x86_64" ? "lsilogic" : "virtio-scsi";
}

export function addScsiController(controller: Section<Controller>, index: number, plan: MachinePlan): void {
  const given = controller.text("model") ?? "auto";
  const model = given === "auto" ? defaultModel(plan) : given;
  const id = deviceId(controller, `scsi${index}`, plan);
  plan.nameBus("scsi", index, id);
  if (flat.has(model)) plan.nameBus("flat scsi", index, id);
  const other = otherDrivers[model];
  if (other !== undefined) return plan.addDevice(other, { id, ...placement(controller, plan) });
  const { driver, known } = virtioDriver(plan, "scsi", model);
  if (!known) throw controller.refuse("model", "this model of a SCSI controller is not known");
  plan.addDevice(driver, { id, ...virtioOptions(controller), ...placement(controller, plan) });
}

function virtioOptions(controller: Section<Controller>): DeviceProperties {
  const options = controller.child("driver");
  const iothread = options?.number("iothread");
  return {
    num_queues: options?.number("queues"),
    cmd_per_lun: options?.number("cmdPerLun"),
    max_sectors: options?.number("maxSectors"),
    ioeventfd: options?.toggle("ioeventfd"),
    iothread: iothread === undefined ? undefined : `iothread${iothread}`,
    ...virtioProperties(options),
  };
}

/** A controller for disks that need one and whose definition names none. */
export function addImpliedScsiController(index: number, plan: MachinePlan): void {
  const implied: Controller = { type: "scsi", index };
  addScsiController(new Section(implied), index, plan);
}
