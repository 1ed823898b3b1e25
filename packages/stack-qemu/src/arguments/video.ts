import type { Video, VideoModel } from "./definition-types.ts";
import { deviceId, placement, virtioProperties } from "./device.ts";
import type { DeviceProperties, DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

const types = ["vga", "virtio", "bochs", "cirrus", "qxl", "vmvga", "ramfb", "none"] as const;
type VideoType = (typeof types)[number];

/** Graphics cards. The first one, or the one that says so, is what the firmware shows its messages on. */
export function addVideos(domain: DomainSection, plan: MachinePlan): void {
  const videos = [...domain.requireChild("devices").children("videos").entries()];
  const primaries = videos.filter(([, video]) => video.child("model")?.toggle("primary") ?? false);
  const second = primaries[1]?.[1];
  if (second !== undefined) throw second.refuse("model", "only one card can be the first one");
  const chosen = primaries[0] ?? videos[0];
  for (const [index, video] of videos.toSorted((a, b) => Number(b === chosen) - Number(a === chosen))) {
    addVideo(video, index, index === chosen?.[0], plan);
  }
}

function addVideo(video: Section<Video>, index: number, primary: boolean, plan: MachinePlan): void {
  const model = video.child("model");
  const type = model?.oneOf("type", types) ?? (plan.architecture.name === "x86_64" ? "cirrus" : "virtio");
  if (type === "none") {
    // There is nothing to name or to place.
    video.skip("alias", "address");
    return;
  }
  if (!primary && type !== "qxl" && type !== "virtio") {
    throw video.refuse("model", `a card of type ${type} can only be the first one; use virtio or qxl for others`);
  }
  const heads = model?.number("heads");
  if (heads !== undefined && heads !== 1 && type !== "qxl" && type !== "virtio") {
    throw video.refuse("model", `a card of type ${type} has one head`);
  }
  const acceleration = model?.child("acceleration");
  if ((acceleration?.toggle("accel3d") ?? false) || (acceleration?.toggle("accel2d") ?? false)) {
    throw video.refuse("model", "acceleration needs a display on the node, and there is none");
  }
  const id = deviceId(video, `video${index}`, plan);
  const options = video.child("driver");
  options?.oneOf("name", ["qemu"]);
  plan.addDevice(videoDriver(model, type, primary, plan), {
    id,
    ...memoryOf(model, type),
    ...resolution(model),
    ...(type === "virtio" && virtioCard(model, options)),
    ...(type === "ramfb" ? {} : placement(video, plan)),
  });
}

function videoDriver(
  model: Section<VideoModel> | undefined,
  type: VideoType,
  primary: boolean,
  plan: MachinePlan,
): string {
  const { name, virtioBus } = plan.architecture;
  const plain = `virtio-gpu-${virtioBus}`;
  switch (type) {
    case "vga":
      return "VGA";
    case "cirrus":
      return "cirrus-vga";
    case "bochs":
      return "bochs-display";
    case "vmvga":
      return "vmware-svga";
    case "qxl":
      return primary ? "qxl-vga" : "qxl";
    case "virtio": {
      const given = model?.oneOf("device", ["virtio-vga", "virtio-gpu"]);
      const vga = given === undefined ? primary && name === "x86_64" : given === "virtio-vga";
      return vga ? "virtio-vga" : plain;
    }
    case "ramfb":
    case "none":
      return type;
  }
}

function memoryOf(model: Section<VideoModel> | undefined, type: VideoType): DeviceProperties {
  const kibibytes = model?.number("vram");
  const mebibytes = kibibytes === undefined ? undefined : Math.max(1, Math.ceil(kibibytes / 1024));
  switch (type) {
    case "vga":
      return { edid: model?.toggle("edid"), vgamem_mb: mebibytes };
    case "vmvga":
      return { vgamem_mb: mebibytes };
    case "bochs":
      return { edid: model?.toggle("edid"), vgamem: kibibytes === undefined ? undefined : kibibytes * 1024 };
    case "virtio":
      return { max_outputs: model?.number("heads") };
    case "qxl": {
      const [ram, vgamem, vram64] = [model?.number("ram"), model?.number("vgamem"), model?.number("vram64")];
      return {
        max_outputs: model?.number("heads"),
        ram_size: ram === undefined ? undefined : ram * 1024,
        vram_size: kibibytes === undefined ? undefined : kibibytes * 1024,
        vram64_size_mb: vram64 === undefined ? undefined : Math.ceil(vram64 / 1024),
        vgamem_mb: vgamem === undefined ? undefined : Math.ceil(vgamem / 1024),
      };
    }
    case "cirrus":
    case "ramfb":
    case "none":
      return {};
  }
}

function virtioCard(
  model: Section<VideoModel> | undefined,
  options: Section<NonNullable<Video["driver"]>> | undefined,
) {
  return { edid: model?.toggle("edid"), blob: model?.toggle("blob"), ...virtioProperties(options) };
}

function resolution(model: Section<VideoModel> | undefined): DeviceProperties {
  const size = model?.child("resolution");
  return { xres: size?.number("x"), yres: size?.number("y") };
}
