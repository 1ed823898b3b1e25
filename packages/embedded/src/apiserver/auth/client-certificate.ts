import type { DetailedPeerCertificate, TLSSocket } from "node:tls";

import { authenticatedGroup, type UserInfo } from "./user.ts";

const users = new WeakMap<TLSSocket, UserInfo | "invalid" | "none">();

/** Who a TLS client is by its certificate: the common name is the user, organizations are groups. */
export function userOfCertificate(socket: TLSSocket): UserInfo | "invalid" | "none" {
  let user = users.get(socket);
  if (user === undefined) {
    user = readCertificate(socket);
    users.set(socket, user);
  }
  return user;
}

function readCertificate(socket: TLSSocket): UserInfo | "invalid" | "none" {
  const certificate: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true);
  if (certificate?.subject === undefined) return "none";
  if (!socket.authorized) return "invalid";
  // Node gives a list where an attribute occurs several times, although its types say string.
  const { CN, O } = certificate.subject as { CN?: string | string[]; O?: string | string[] };
  const username = Array.isArray(CN) ? CN.at(-1) : CN;
  if (username === undefined || username === "") return "invalid";
  return { username, groups: [...(O === undefined ? [] : [O].flat()), authenticatedGroup] };
}
