import type { GuestFilesystem, GuestInfo, GuestUser } from "@polyvirt/stack";

/** VirtualMachineInstanceGuestAgentInfo: what `guestosinfo` of the subresource API shows. */
export function guestAgentInfo(info: GuestInfo, users: readonly GuestUser[], filesystems: readonly GuestFilesystem[]) {
  return {
    guestAgentVersion: info.agentVersion,
    supportedCommands: info.supportedCommands.map((name) => ({ name, enabled: true })),
    hostname: info.hostname,
    os: info.os,
    timezone: info.timezone,
    userList: users.map(guestUser),
    fsInfo: { disks: filesystems.map(guestFilesystem) },
    fsFreezeStatus: info.filesystemsFrozen === true ? "frozen" : undefined,
    // Addition: the node agent fills the VMI's interface status from it.
    interfaces: info.interfaces,
  };
}

/** VirtualMachineInstanceGuestOSUser. */
export function guestUser({ name, domain, loginTimeSeconds }: GuestUser) {
  return { userName: name, domain, loginTime: loginTimeSeconds };
}

/** VirtualMachineInstanceFileSystem. */
export function guestFilesystem({ diskName, mountPoint, type, usedBytes, totalBytes, disks }: GuestFilesystem) {
  return { diskName, mountPoint, fileSystemType: type, usedBytes, totalBytes, disk: disks };
}
