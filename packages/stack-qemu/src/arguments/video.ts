import type { VideoModel } from "./definition-types.ts";
import { deviceId, placement } from "./device.ts";
import type { DeviceProperties, DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** Graphics cards. */
export function addVideos(domain: DomainSection, plan: MachinePlan): void {
  for (const [index, video] of domain.requireChild("devices").children("videos").entries()) {
    const model = video.requireChild("model");
    model.skip("primary");
    const type = model.oneOf("type", ["vga", "virtio", "bochs", "cirrus", "ramfb", "none"]) ?? "none";
    if (type === "none") continue;
    const id = deviceId(video, `video${index}`, plan);
    const at = type === "ramfb" ? {} : placement(video, plan);
    plan.addDevice(videoDrivers(plan)[type], { id, ...memoryOf(model, type), ...resolution(model), ...at });
  }
}

function videoDrivers(plan: MachinePlan) {
  const virtio = plan.architecture.name === "x86_64" ? "virtio-vga" : `virtio-gpu-${plan.architecture.virtioBus}`;
  return { vga: "VGA", virtio, bochs: "bochs-display", cirrus: "cirrus-vga", ramfb: "ramfb" };
}

function memoryOf(model: Section<VideoModel>, type: string): DeviceProperties {
  const kibibytes = model.number("vram");
  const heads = model.number("heads");
  switch (type) {
    case "vga":
      return { vgamem_mb: kibibytes === undefined ? undefined : Math.max(1, Math.ceil(kibibytes / 1024)) };
    case "bochs":
      return { vgamem: kibibytes === undefined ? undefined : kibibytes * 1024 };
    case "virtio":
      return { max_outputs: heads };
    default:
      return {};
  }
}

function resolution(model: Section<VideoModel>): DeviceProperties {
  const size = model.child("resolution");
  return { xres: size?.number("x"), yres: size?.number("y") };
}
