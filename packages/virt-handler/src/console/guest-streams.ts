/** Streams of a guest that can be connected to, by the name in the request's path. */
export const guestStreams = {
  /** The first serial port. */
  console: { socket: "virt-serial0", missing: "No serial consoles are present." },
  /** The screen, as VNC. */
  vnc: { socket: "virt-vnc", missing: "No graphics devices are present." },
} as const satisfies Record<string, { readonly socket: string; readonly missing: string }>;

export type GuestStreamName = keyof typeof guestStreams;
