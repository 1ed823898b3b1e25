import { describe, expect, it } from "vitest";
import { separateMounts } from "./separate-mounts.ts";

const mounts = [
  "1 0 8:1 / / rw - ext4 /dev/sda rw",
  "2 1 0:2 / /proc rw - proc proc rw",
  "3 1 0:3 / /run rw - tmpfs tmpfs rw",
  "4 1 8:2 / /home rw - ext4 /dev/sdb rw",
  "5 4 8:3 / /home/me/my\\040project rw - ext4 /dev/sdc rw",
  "6 1 8:4 / /mnt/other rw - ext4 /dev/sdd rw",
].join("\n");

describe("separateMounts", () => {
  it.each([
    ["nothing needed", [], []],
    ["a file on another file system", ["/home/me/file"], ["/home"]],
    ["nested mounts, outer first", ["/home/me/my project/dist/x.js"], ["/home", "/home/me/my project"]],
    ["the mount point itself", ["/mnt/other"], ["/mnt/other"]],
    ["not a name that only begins alike", ["/homework"], []],
    ["not what each container has for itself", ["/proc/1", "/run/x"], []],
  ])("%s", (_name, paths, expected) => {
    expect(separateMounts(mounts, paths)).toEqual(expected);
  });
});
