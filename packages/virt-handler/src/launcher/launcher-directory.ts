import type { hotplugDisks } from "@polyvirt/api";
import { openBeneath, openTrustedDirectory, type FileKind, type OpenedPath } from "@polyvirt/host";
import { errors } from "../errors.ts";

type PodVolume = "sockets" | "public" | "private" | typeof hotplugDisks.volume;

/**
 * The folders of launcher pods as the node sees them. Whatever lies in them is the pod's: it is opened component by
 * component without following links, and what was opened is used.
 */
export interface LauncherDirectory {
  open(podUid: string, volume: PodVolume, relative: string, expect: FileKind): OpenedPath;
}

const POD_UID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;

/** `root` is the kubelet's folder of pods, which the node's administrator controls. */
export function createLauncherDirectory(root: string): LauncherDirectory {
  return {
    open(podUid, volume, relative, expect) {
      // UIDs come from the API server; one that is no UID is someone's attempt to leave the folder.
      if (!POD_UID.test(podUid)) throw errors.HandlerLauncherAbsent(`find pod ${JSON.stringify(podUid)}: it is no UID`);
      const trusted = openTrustedDirectory(root);
      try {
        return openBeneath(trusted, `${podUid}/volumes/kubernetes.io~empty-dir/${volume}/${relative}`, { expect });
      } finally {
        trusted.close();
      }
    },
  };
}
