/** Runs one container and prints how it ended and what it said: for a test that starts this as an ordinary user. */
import * as fs from "node:fs";
import * as path from "node:path";
import { systemClock } from "@polyvirt/core";
import { startContainer } from "../container/container-process.ts";

const [directory = "", command = ""] = process.argv.slice(2);
const script = path.join(directory, "script");
fs.writeFileSync(script, command);
const container = startContainer(
  path.join(directory, "container"),
  {
    command: ["sh", "-c", command],
    environment: new Map([["PATH", "/usr/bin:/bin"]]),
    workingDirectory: "/",
    hostname: "inside",
    mounts: [
      { source: directory, target: "/volume", kind: "directory", readOnly: false, recursive: false },
      // In directories of the machine that belong to root.
      { source: directory, target: "/var/lib/made/deep", kind: "directory", readOnly: false, recursive: false },
      { source: script, target: "/etc/ssl/made", kind: "file", readOnly: false, recursive: false },
    ],
    maskedDirectories: [],
    visiblePaths: [],
    privileged: false,
    hostPid: false,
    input: false,
    terminal: false,
    readOnlyRoot: false,
    credentials: { uid: 107, gid: 107, groups: [107], capabilities: [], noNewPrivileges: true },
    groupName: "rootless",
    limits: {},
  },
  systemClock,
);
// Watching a container does not keep a program alive.
const alive = setInterval(() => {}, 1000);
container.onChange(() => {
  const state = container.state();
  if (state.phase !== "exited") return;
  const output = fs.readFileSync(path.join(directory, "container/stdout"), "utf8");
  clearInterval(alive);
  process.stdout.write(JSON.stringify({ ...state, output }));
});
