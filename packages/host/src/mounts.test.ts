import { describe, expect, it } from "vitest";
import { mountPointsBelow } from "./mounts.ts";

const mountInfo = [
  "21 1 0:20 / / rw - ext4 /dev/vda rw",
  "30 21 0:30 / /data/pods/a/v rw - tmpfs tmpfs rw",
  "31 30 0:31 / /data/pods/a/v/with\\040blank rw - tmpfs tmpfs rw",
  "32 21 0:32 / /data/pods/ab rw - tmpfs tmpfs rw",
  "",
].join("\n");

describe("mount points below a directory", () => {
  it("come innermost first, and only those below", () => {
    expect(mountPointsBelow(mountInfo, "/data/pods/a")).toEqual(["/data/pods/a/v/with blank", "/data/pods/a/v"]);
    expect(mountPointsBelow(mountInfo, "/data/pods/ab")).toEqual([]);
    expect(mountPointsBelow(mountInfo, "/elsewhere")).toEqual([]);
  });
});
